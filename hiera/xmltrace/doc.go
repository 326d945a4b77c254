// Package xmltrace reads and writes the files of hierarchical traces. They are XML, a file for each
// process, and one configuration file that names these. An operation is an element that holds the
// operations executed during it.
//
// The format is that of HieraAnalyses (see package hiera). Its document type is repaired where the
// print is not valid. Faults are EMPTY in a content model, a doubled name, and missing methods and
// classes that the paper's own files use. It is extended, too: hieraOMP holds a construct of
// OpenMP. hieraUser holds a function or region of the user or of a library's level. thread holds
// the operations of one thread, and gap a time for which nothing is known. Reader and writer keep
// the open elements in memory, and no more.
package xmltrace
