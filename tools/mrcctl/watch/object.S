/* SPDX-License-Identifier: GPL-2.0 */
/* object.S - watch.bpf.o, as it is, in mrcctl. */
	.section .rodata
	.balign 16
	.globl mrc_watch_object, mrc_watch_object_end
mrc_watch_object:
	.incbin WATCH_OBJECT
mrc_watch_object_end:
	.byte 0
	.section .note.GNU-stack,"",@progbits
