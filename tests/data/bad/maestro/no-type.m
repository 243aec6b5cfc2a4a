Network N {
  Layer A {
    Dimensions { K: 4, C: 4, R: 3, S: 3, Y: 8, X: 8 }
    Dataflow { SpatialMap(1,1) K; }
  }
}
