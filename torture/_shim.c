/* Fails the Nth call of one kind on the files of one folder. Preloaded, it is also between C libraries and the disk.
 *
 * shim_watch(folder) begins; shim_arm(kind, place, error, mode) makes call number `place` of a kind fail, and with the
 * mode FOREVER every later one; shim_disarm() ends it and says how many calls of the kind there were.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN, WRITE, SYNC, RENAME, CLOSE, CHMOD, UNLINK, TRUNCATE, MKDIR, MAP, KINDS };
enum { ONCE, FOREVER, SHORT_ONCE, SHORT_FOREVER, KILL };
#define FILES 65536

static char root[4096];
static size_t root_length;
static unsigned char watched[FILES];
static int armed = -1, wanted, failure, mode;
static int calls[KINDS];

#define REAL(result, name, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static int below(const char *path) {
    return root_length && path && !strncmp(path, root, root_length)
        && (path[root_length] == '/' || !path[root_length]);
}

static int known(int file) { return file >= 0 && file < FILES && watched[file]; }

/* 0: go on; 1: fail, errno is set; 2: write less than was asked for. */
static int verdict(int kind) {
    int place = __atomic_fetch_add(&calls[kind], 1, __ATOMIC_SEQ_CST);
    if (kind != armed) return 0;
    int later = mode == FOREVER || mode == SHORT_FOREVER;
    if (place != wanted && !(later && place > wanted)) return 0;
    if (mode == KILL) kill(getpid(), SIGKILL);
    if (mode == SHORT_ONCE || mode == SHORT_FOREVER) return 2;
    errno = failure;
    return 1;
}

static size_t less(size_t count) { return count > 1 ? count / 2 : count; }

void shim_watch(const char *folder) {
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
}

void shim_arm(int kind, int place, int error, int how) {
    memset(calls, 0, sizeof calls);
    wanted = place, failure = error, mode = how, armed = kind;
}

int shim_disarm(int kind) {
    armed = -1;
    return calls[kind];
}

static int noted(int file, const char *path) {
    if (file >= 0 && file < FILES) watched[file] = (unsigned char)below(path);
    return file;
}

#define OPENING(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, #name, const char *, int, ...); \
        va_list rest; va_start(rest, flags); \
        mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        if (below(path) && verdict(OPEN) == 1) return -1; \
        return noted(real(path, flags, rights), path); \
    }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        REAL(int, #name, int, const char *, int, ...); \
        va_list rest; va_start(rest, flags); \
        mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        if (below(path) && verdict(OPEN) == 1) return -1; \
        return noted(real(folder, path, flags, rights), path); \
    }
OPENING_AT(openat)
OPENING_AT(openat64)

#define WRITING(name, count, parameters, ...) \
    ssize_t name parameters { \
        REAL(ssize_t, #name, __VA_ARGS__); \
        int found = known(file) ? verdict(WRITE) : 0; \
        if (found == 1) return -1; \
        if (found == 2) count = less(count);

WRITING(write, count, (int file, const void *from, size_t count), int, const void *, size_t)
    return real(file, from, count); }
WRITING(pwrite, count, (int file, const void *from, size_t count, off_t at), int, const void *, size_t, off_t)
    return real(file, from, count, at); }
WRITING(pwrite64, count, (int file, const void *from, size_t count, off64_t at), int, const void *, size_t, off64_t)
    return real(file, from, count, at); }
WRITING(sendfile, count, (int file, int from, off_t *at, size_t count), int, int, off_t *, size_t)
    return real(file, from, at, count); }
WRITING(sendfile64, count, (int file, int from, off64_t *at, size_t count), int, int, off64_t *, size_t)
    return real(file, from, at, count); }

ssize_t writev(int file, const struct iovec *parts, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    int found = known(file) ? verdict(WRITE) : 0;
    if (found == 1) return -1;
    return real(file, parts, found == 2 && count > 1 ? count / 2 : count);
}

ssize_t copy_file_range(int from, off64_t *at, int file, off64_t *to, size_t count, unsigned flags) {
    REAL(ssize_t, "copy_file_range", int, off64_t *, int, off64_t *, size_t, unsigned);
    int found = known(file) ? verdict(WRITE) : 0;
    if (found == 1) return -1;
    return real(from, at, file, to, found == 2 ? less(count) : count, flags);
}

int fsync(int file) {
    REAL(int, "fsync", int);
    return known(file) && verdict(SYNC) == 1 ? -1 : real(file);
}

int fdatasync(int file) {
    REAL(int, "fdatasync", int);
    return known(file) && verdict(SYNC) == 1 ? -1 : real(file);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    return below(to) && verdict(RENAME) == 1 ? -1 : real(from, to);
}

int renameat(int one, const char *from, int other, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *);
    return below(to) && verdict(RENAME) == 1 ? -1 : real(one, from, other, to);
}

/* The file is closed all the same, as a network disk does that could not keep what was written. */
int close(int file) {
    REAL(int, "close", int);
    int was = known(file);
    if (was) watched[file] = 0;
    int failed = was && verdict(CLOSE) == 1, error = errno, result = real(file);
    if (!failed) return result;
    errno = error;
    return -1;
}

int chmod(const char *path, mode_t rights) {
    REAL(int, "chmod", const char *, mode_t);
    return below(path) && verdict(CHMOD) == 1 ? -1 : real(path, rights);
}

int fchmod(int file, mode_t rights) {
    REAL(int, "fchmod", int, mode_t);
    return known(file) && verdict(CHMOD) == 1 ? -1 : real(file, rights);
}

int fchmodat(int folder, const char *path, mode_t rights, int flags) {
    REAL(int, "fchmodat", int, const char *, mode_t, int);
    return below(path) && verdict(CHMOD) == 1 ? -1 : real(folder, path, rights, flags);
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    return below(path) && verdict(UNLINK) == 1 ? -1 : real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    return below(path) && verdict(UNLINK) == 1 ? -1 : real(folder, path, flags);
}

int ftruncate(int file, off_t length) {
    REAL(int, "ftruncate", int, off_t);
    return known(file) && verdict(TRUNCATE) == 1 ? -1 : real(file, length);
}

int ftruncate64(int file, off64_t length) {
    REAL(int, "ftruncate64", int, off64_t);
    return known(file) && verdict(TRUNCATE) == 1 ? -1 : real(file, length);
}

int mkdir(const char *path, mode_t rights) {
    REAL(int, "mkdir", const char *, mode_t);
    return below(path) && verdict(MKDIR) == 1 ? -1 : real(path, rights);
}

void *mmap(void *place, size_t length, int rights, int flags, int file, off_t at) {
    REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
    return known(file) && verdict(MAP) == 1 ? MAP_FAILED : real(place, length, rights, flags, file, at);
}

void *mmap64(void *place, size_t length, int rights, int flags, int file, off64_t at) {
    REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t);
    return known(file) && verdict(MAP) == 1 ? MAP_FAILED : real(place, length, rights, flags, file, at);
}

/* Duplicates are watched as their originals are. */
#define COPYING(name, parameters, arguments, ...) \
    int name parameters { \
        REAL(int, #name, __VA_ARGS__); \
        int copy = real arguments; \
        if (copy >= 0 && copy < FILES) watched[copy] = (unsigned char)known(file); \
        return copy; \
    }
COPYING(dup, (int file), (file), int)
COPYING(dup2, (int file, int to), (file, to), int, int)
COPYING(dup3, (int file, int to, int flags), (file, to, flags), int, int, int)

#define CONTROL(name) \
    int name(int file, int what, ...) { \
        REAL(int, #name, int, int, ...); \
        va_list rest; va_start(rest, what); \
        void *argument = va_arg(rest, void *); \
        va_end(rest); \
        int result = real(file, what, argument); \
        int copies = what == F_DUPFD || what == F_DUPFD_CLOEXEC; \
        if (copies && result >= 0 && result < FILES) watched[result] = (unsigned char)known(file); \
        return result; \
    }
CONTROL(fcntl)
CONTROL(fcntl64)

/* The C library's own streams write past the functions above: a stream over a watched file is led back to them. */
static ssize_t stream_read(void *file, char *to, size_t count) { return read((int)(intptr_t)file, to, count); }
static ssize_t stream_write(void *file, const char *from, size_t count) {
    ssize_t done = write((int)(intptr_t)file, from, count);
    return done < 0 ? 0 : done;
}
static int stream_seek(void *file, off64_t *place, int whence) {
    off64_t found = lseek64((int)(intptr_t)file, *place, whence);
    if (found < 0) return -1;
    *place = found;
    return 0;
}
static int stream_close(void *file) { return close((int)(intptr_t)file); }

FILE *fdopen(int file, const char *how) {
    REAL(FILE *, "fdopen", int, const char *);
    cookie_io_functions_t functions = {stream_read, stream_write, stream_seek, stream_close};
    return known(file) ? fopencookie((void *)(intptr_t)file, how, functions) : real(file, how);
}
