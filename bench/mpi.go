package main

// measureMPIOperations measures single MPI calls, for each MPI library.
func measureMPIOperations(dir string) ([]*costs, error) {
	targets, err := mpiCompilers(dir)
	if err != nil {
		return nil, err
	}
	var out []*costs
	for _, t := range targets {
		if t, err = t.build("mpi.c", dir); err != nil {
			return nil, err
		}
		c, err := measureGroup(t, mpiGroup, dir)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, c)
		}
	}
	return out, nil
}
