// Package directives reads OpenMP directives from the text of C, C++ and Fortran sources. Of each
// it also finds the extent of the statement or block that the directive governs. It opens no file.
package directives
