MemcpyHtoD,0x7f2000000000,1024
kernel-add.traceg
