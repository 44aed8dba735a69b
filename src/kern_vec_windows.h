/* gcc on 64-bit Windows keeps the stack aligned to 16 bytes only, yet spills wide registers with aligned moves, which
 * then fault (gcc bug 54412). Unaligned moves are as fast, so the assembler is told to use them throughout the file.
 */
#ifndef PN_KERN_VEC_WINDOWS_H
#define PN_KERN_VEC_WINDOWS_H

#if defined(_WIN32) && !defined(__clang__)
#define PN_MOVE_UNALIGNED(aligned, unaligned) __asm__(".macro " aligned " args:vararg\n\t" unaligned " \\args\n.endm")
PN_MOVE_UNALIGNED("vmovaps", "vmovups");
PN_MOVE_UNALIGNED("vmovapd", "vmovupd");
PN_MOVE_UNALIGNED("vmovdqa", "vmovdqu");
PN_MOVE_UNALIGNED("vmovdqa32", "vmovdqu32");
PN_MOVE_UNALIGNED("vmovdqa64", "vmovdqu64");
#endif

#endif
