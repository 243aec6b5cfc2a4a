kernel-packed.traceg.xz
