num_pes: 4
num_pes: 8
