/* Fails one call that writes below a folder, for benchmarks/soak/disk_faults.py (LD_PRELOAD).

   fault_arm(folder, call, error, kind): the call-th such call fails with error, or writes half of
   its bytes (kind 1). With kind 2 that call and all later ones fail: a disk that is full. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char below[PATH_MAX];
static long wanted, seen;
static int fault, what;

void fault_arm(const char *folder, long call, int error, int kind) {
  strncpy(below, folder, sizeof below - 1);
  wanted = call; fault = error; what = kind;
  __atomic_store_n(&seen, 0, __ATOMIC_SEQ_CST);
}
long fault_seen(void) { return __atomic_load_n(&seen, __ATOMIC_SEQ_CST); }

static int named(const char *path) { return below[0] && path && !strncmp(path, below, strlen(below)); }

static int opened(int descriptor) {
  char link[64], path[PATH_MAX];
  if (!below[0]) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t size = readlink(link, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return named(path);
}

static int fails(int ours) {
  if (!ours) return 0;
  long number = __atomic_add_fetch(&seen, 1, __ATOMIC_SEQ_CST);
  if (!(what == 2 ? wanted && number >= wanted : number == wanted)) return 0;
  errno = fault;
  return 1;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name)

ssize_t write(int d, const void *b, size_t n) {
  REAL(write);
  if (fails(opened(d))) { if (what == 1 && n > 1) return real(d, b, n / 2); return -1; }
  return real(d, b, n);
}
ssize_t pwrite(int d, const void *b, size_t n, off_t o) {
  REAL(pwrite);
  if (fails(opened(d))) { if (what == 1 && n > 1) return real(d, b, n / 2, o); return -1; }
  return real(d, b, n, o);
}
ssize_t pwrite64(int d, const void *b, size_t n, off64_t o) {
  REAL(pwrite64);
  if (fails(opened(d))) { if (what == 1 && n > 1) return real(d, b, n / 2, o); return -1; }
  return real(d, b, n, o);
}
ssize_t writev(int d, const struct iovec *v, int n) {
  REAL(writev);
  if (fails(opened(d))) { if (what == 1 && n && v[0].iov_len > 1) return write(d, v[0].iov_base, v[0].iov_len / 2); return -1; }
  return real(d, v, n);
}
int fsync(int d) { REAL(fsync); return fails(opened(d)) ? -1 : real(d); }
int fdatasync(int d) { REAL(fdatasync); return fails(opened(d)) ? -1 : real(d); }
int ftruncate(int d, off_t n) { REAL(ftruncate); return fails(opened(d)) ? -1 : real(d, n); }
int ftruncate64(int d, off64_t n) { REAL(ftruncate64); return fails(opened(d)) ? -1 : real(d, n); }
int rename(const char *a, const char *b) { REAL(rename); return fails(named(b)) ? -1 : real(a, b); }
int mkdir(const char *p, mode_t m) { REAL(mkdir); return fails(named(p)) ? -1 : real(p, m); }
int open(const char *p, int flags, ...) {
  REAL(open);
  va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more);
  return (flags & O_CREAT) && fails(named(p)) ? -1 : real(p, flags, mode);
}
int open64(const char *p, int flags, ...) {
  REAL(open64);
  va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more);
  return (flags & O_CREAT) && fails(named(p)) ? -1 : real(p, flags, mode);
}
