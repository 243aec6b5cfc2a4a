MemcpyHtoD,0x7f0000000000
kernel-binary.traceg
