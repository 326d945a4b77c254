// Package symbols finds the ELF modules that a process maps, and translates addresses in them into
// functions, files, lines and OpenMP source regions. It reads files only; it neither stops nor
// touches the process.
//
// It uses three kinds of address. An address is what the process sees. A vaddr is an address as the
// ELF file states it (Module.VAddr converts). A file offset is what the kernel wants for a uprobe
// (Object.FileOffset converts).
//
// # Rooms
//
//   - process.go, maps.go, module.go: which files a process maps, and where
//   - object.go, section.go, segment.go: an ELF file, its code and data
//   - symtab.go, rawsymbols.go, defines.go, dynamic.go: its symbol tables
//   - extent.go, unwindinfo.go: where its functions begin and end
//   - reloc.go, plt.go, constant.go: what the dynamic loader writes into it
//   - branches.go: where its code calls some functions
//   - debugfile.go: its separate debug file
//   - debuginfo.go: lines and functions of the source (package debuginfo)
//   - userfunc.go: functions by the names that users know (package names)
//   - source.go: the OpenMP directives of the source's text (package directives)
//   - ident.go: libomp's ident_t; usdt.go: markers
//   - memo.go: answers about files, each found once
package symbols
