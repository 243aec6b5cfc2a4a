kernel-../../../../../../etc/nothing-here
