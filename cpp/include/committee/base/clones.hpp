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
