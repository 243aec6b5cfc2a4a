MemcpyHtoD,somewhere,64
kernel-binary.traceg
