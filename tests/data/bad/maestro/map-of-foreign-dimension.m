Network N {
  Layer A {
    Type: GEMM
    Dimensions { M: 4, N: 4, K: 4 }
    Dataflow {
      SpatialMap(1,1) Y;
    }
  }
}
