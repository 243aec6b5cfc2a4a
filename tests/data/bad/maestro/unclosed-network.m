Network N {
	Layer A {
		Type: CONV
		Dimensions { K: 4, C: 4, R: 1, S: 1, Y: 4, X: 4 }
		Dataflow {
			SpatialMap(1,1) K;
		}
	}
