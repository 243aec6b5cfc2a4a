Network N {
  Layer A {
    Type: CONV
    Dimensions { K: 4, C: 4, R: 9, S: 9, Y: 8, X: 8 }
    Dataflow {
      SpatialMap(1,1) K;
    }
  }
}
