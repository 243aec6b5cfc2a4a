num_pes:
