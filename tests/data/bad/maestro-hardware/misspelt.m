num_pe: 256
