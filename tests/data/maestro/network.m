// One layer of every type, in the notation with and without colons.
Constant Channels 16;
Constant Twice Channels * 2;

Network Sample {
	Layer CONV1 {
		Type: CONV
		Stride { X: 2, Y: 2 }
		Dimensions { K: Twice, C: 3, R: 3, S: 3, Y: 33, X: 33 }
		Dataflow {
			SpatialMap(1,1) K;
			TemporalMap(Sz(R),1) Y;
			TemporalMap(Sz(S),1) X;
			TemporalMap(Sz(R),Sz(R)) R;
			TemporalMap(Sz(S),Sz(S)) S;
		}
	}
	Layer CONV2 { // takes the dataflow of CONV1
		Type: CONV
		Dimensions { K Twice,C Twice,R 3,S 3,Y' 14,X' 14 }
	}
	Layer DEPTHWISE {
		Type: DSCONV
		Dimensions { K: 1, C: Channels, R: 3, S: 3, Y: 14, X: 14 }
		Dataflow {
			TemporalMap(1,1) C;
			SpatialMap(1,1) Y'; //'
			TemporalMap(Sz(S)+1, 2) X;
		}
	}
	Layer GROUPED {
		Type: NGCONV
		Dimensions { G: 4, K: 4, C: 8, R: 3, S: 3, Y: 14, X: 14 }
		Dataflow { TemporalMap(1,1) G; SpatialMap(1,1) K; TemporalMap(1,1) Y'; }
	}
	Layer UP {
		Type: TRCONV
		Dimensions { N: 1, K: 8, C: 8, R: 2, S: 2, Y: 14, X: 14 }
		Dataflow { SpatialMap(1,1) K; }
	}
	Layer PRODUCT {
		Type: GEMM
		Dimensions { M: 32, N: 48, K: 64 }
		Dataflow {
			TemporalMap(1,1) N;
			SpatialMap(1,1) M;
			TemporalMap(64/4,64/4) K;
			Cluster(Channels, P)
			SpatialMap(1,1) K;
		}
	}
	Layer BATCHED {
		Type: BMM
		Dimensions { B: 2, M: 32, N: 48, K: 64 }
		Dataflow { TemporalMap(1,1) B; TemporalMap(1,1) N; SpatialMap(1,1) M; }
	}
	Layer GATES {
		Type: LSTM
		Dimensions { M: 1, N: 128, K: 64 }
		Dataflow { SpatialMap(1,1) N; TemporalMap(1,1) K; }
	}
	Layer HEAD {
		Type: FC
		Dimensions { K: 10, C: 128 }
		Dataflow { SpatialMap(1,1) K; TemporalMap(1,1) C; }
	}
}

Accelerator { PE { NumPEs: 128; VectorWidth: 4; MultPrecision: INT8, AddPrecision: INT16 } }
