kernel-none.traceg
