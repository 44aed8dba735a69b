/* Included first by files whose results must have the same bits on every processor.
 *
 * A compiler may fuse a product and a sum into one operation with one rounding, and does so where the instruction set
 * has it: gcc even across functions and between intrinsics. Here every operation is rounded as it is written; what is
 * to be fused is written as a fused multiply-add.
 */
#ifndef PN_BASE_ROUNDING_H
#define PN_BASE_ROUNDING_H

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#endif
