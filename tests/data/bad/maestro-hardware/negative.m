num_pes: -4
