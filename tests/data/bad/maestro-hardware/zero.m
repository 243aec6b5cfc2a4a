num_pes: 0
