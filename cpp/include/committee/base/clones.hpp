// Hot loops compiled once per instruction set, chosen at load time. The arithmetic is integer or
// single IEEE operations without contraction, so the choice never changes a result, only its speed.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
// Sanitizer runtimes are not up yet when the loader resolves clones.
#define COMMITTEE_CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define COMMITTEE_CLONES
#endif

// What a clone calls must be compiled for the same instruction set: inside of it.
#define COMMITTEE_INLINE inline __attribute__((always_inline))

// Vectors of 64 bytes, for the few loops that gain by them, stand in a function of their own beside
// one with smaller vectors: compilers that must take large vectors apart do it badly. The first
// processors that had them ran slower while they were used; those with VBMI2 do not.
#if defined(__x86_64__) && defined(__GNUC__)
#define COMMITTEE_WIDE __attribute__((target("avx512f,avx512bw,avx512vl")))
namespace committee {
inline bool has_wide_vectors() {
  return __builtin_cpu_supports("avx512vbmi2") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}
}  // namespace committee
#else
#define COMMITTEE_WIDE
namespace committee {
inline bool has_wide_vectors() { return false; }
}  // namespace committee
#endif
