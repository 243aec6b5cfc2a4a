noc_bw_cstr: 10
