// SPDX-License-Identifier: GPL-2.0
// page.html in the program, as it is.
	.section .rodata
	.globl mrcd_page_begin, mrcd_page_end
mrcd_page_begin:
	.incbin PAGE
mrcd_page_end:
	.section .note.GNU-stack, "", %progbits
