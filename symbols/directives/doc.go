// Package directives reads OpenMP directives, and the extent of the statement or block that each
// governs, from the text of C, C++ and Fortran sources. It opens no file.
package directives
