Network N {
  Layer A {
    Type: CONV
    Dimensions { K: 99999999999999999999, C: 4, R: 3, S: 3, Y: 8, X: 8 }
    Dataflow {
      SpatialMap(1,1) K;
    }
  }
}
