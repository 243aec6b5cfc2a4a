Network N {
  Layer A {
    Type: CONV
    Dimensions { K: 2000000000, C: 2000000000, R: 3, S: 3, Y: 8, X: 8 }
    Dataflow {
      SpatialMap(1,1) K;
    }
  }
}
