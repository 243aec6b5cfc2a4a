MemcpyHtoD,0x7f0000000000,-1
kernel-binary.traceg
