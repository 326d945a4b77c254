// Package plans keeps the plans of the probes in files: of runtimes, of MPI libraries, of files'
// own code and of calls of static loops. A plan is made when the first process maps the file, and
// is stored with the kernel side. It holds for all processes of the measurement. A plan that failed
// is not tried again.
//
// The package also tells which files are plain: nothing in a plain file can be measured.
package plans
