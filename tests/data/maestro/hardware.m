// An array of 64 elements with a narrow network
num_pes: 64
l1_size_cstr: 64
l2_size_cstr: 4096
noc_bw_cstr: 16
NoC_NumHops: 2
offchip_bw_cstr: 8
