Network N {
  Layer A {
    Type: GEMM
    Dimensions { M: 4, N: 4, K: 4, Y: 8 }
    Dataflow {
      SpatialMap(1,1) K;
    }
  }
}
