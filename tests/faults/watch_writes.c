/* Logs what a process does to the files of one folder, in the order in which it does it: creates,
 * writes, truncations, syncs, removals. Loaded with LD_PRELOAD; WATCH_FOLDER names the folder and
 * WATCH_LOG the log.
 *
 * An entry of the log is: one byte for the kind, the length of the file's name (2 bytes), an offset
 * (8 bytes), the length of the data (8 bytes), the name, the data; numbers are little-endian.
 * Where WATCH_KILL names a number, the process is killed right after that entry.
 * Files in memory that share a mapping (-shm) need no log: they do not outlive the machine. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CREATE = 'c', WRITE = 'w', TRUNCATE = 't', SYNC = 's', REMOVE = 'r', SYNC_FOLDER = 'f' };

#define FILES 1024
#define NAME_BYTES 256

static char names[FILES][NAME_BYTES]; /* by descriptor; empty: not watched; ".": the folder */
static int log_file = -1;
static long entries_left = -1; /* before the process is killed; negative: it is not */
static const char *folder;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start(void) {
    folder = getenv("WATCH_FOLDER");
    const char *log = getenv("WATCH_LOG");
    if (folder && log)
        log_file = REAL(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const char *last = getenv("WATCH_KILL");
    if (last) entries_left = atol(last);
}

static void put(const void *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = REAL(write)(log_file, bytes, length);
        if (written <= 0) abort();
        bytes = (const char *)bytes + written;
        length -= (size_t)written;
    }
}

static void note(char kind, const char *name, uint64_t offset, const void *data, uint64_t length) {
    int before = errno;
    uint16_t name_length = (uint16_t)strlen(name);
    put(&kind, 1);
    put(&name_length, 2);
    put(&offset, 8);
    put(&length, 8);
    put(name, name_length);
    put(data, data ? length : 0);
    if (entries_left > 0 && --entries_left == 0) kill(getpid(), SIGKILL);
    errno = before;
}

/* The name of a path inside the folder, "." for the folder itself, NULL for anything else. */
static const char *inside(const char *path) {
    if (log_file < 0 || !path) return NULL;
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0) {
        /* The store opens "./" before an absolute path as it is, so only a prefix needs care. */
        return NULL;
    }
    if (path[length] == 0) return ".";
    if (path[length] != '/' || strchr(path + length + 1, '/')) return NULL;
    const char *name = path + length + 1;
    return strlen(name) < NAME_BYTES ? name : NULL;
}

static const char *watched(int file) {
    return log_file >= 0 && file >= 0 && file < FILES && names[file][0] ? names[file] : NULL;
}

static int opened(int file, const char *path, int flags, int existed) {
    const char *name = file >= 0 && file < FILES ? inside(path) : NULL;
    if (!name) return file;
    strcpy(names[file], name);
    if ((flags & O_CREAT) && !existed) note(CREATE, name, 0, NULL, 0);
    if ((flags & O_TRUNC) && existed) note(TRUNCATE, name, 0, NULL, 0);
    return file;
}

static int exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

#define OPEN(function)                                                                             \
    int function(const char *path, int flags, ...) {                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;                  \
        va_end(rest);                                                                              \
        int existed = inside(path) && exists(path);                                                \
        return opened(REAL(function)(path, flags, mode), path, flags, existed);                    \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(function)                                                                           \
    int function(int at, const char *path, int flags, ...) {                                      \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0;                  \
        va_end(rest);                                                                              \
        int existed = inside(path) && exists(path);                                                \
        return opened(REAL(function)(at, path, flags, mode), path, flags, existed);                \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int file) {
    if (file >= 0 && file < FILES) names[file][0] = 0;
    return REAL(close)(file);
}

ssize_t write(int file, const void *data, size_t length) {
    const char *name = watched(file);
    off_t offset = name ? lseek(file, 0, SEEK_CUR) : 0;
    ssize_t written = REAL(write)(file, data, length);
    if (name && written > 0) note(WRITE, name, (uint64_t)offset, data, (uint64_t)written);
    return written;
}

#define PWRITE(function, offset_type)                                                              \
    ssize_t function(int file, const void *data, size_t length, offset_type offset) {              \
        ssize_t written = REAL(function)(file, data, length, offset);                              \
        const char *name = watched(file);                                                          \
        if (name && written > 0) note(WRITE, name, (uint64_t)offset, data, (uint64_t)written);     \
        return written;                                                                            \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define TRUNCATE_FILE(function, length_type)                                                       \
    int function(int file, length_type length) {                                                   \
        int result = REAL(function)(file, length);                                                 \
        const char *name = watched(file);                                                          \
        if (name && result == 0) note(TRUNCATE, name, (uint64_t)length, NULL, 0);                  \
        return result;                                                                             \
    }
TRUNCATE_FILE(ftruncate, off_t)
TRUNCATE_FILE(ftruncate64, off64_t)

#define SYNC_FILE(function)                                                                        \
    int function(int file) {                                                                       \
        int result = REAL(function)(file);                                                         \
        const char *name = watched(file);                                                          \
        if (name && result == 0)                                                                   \
            note(strcmp(name, ".") == 0 ? SYNC_FOLDER : SYNC, name, 0, NULL, 0);                   \
        return result;                                                                             \
    }
SYNC_FILE(fsync)
SYNC_FILE(fdatasync)

int unlink(const char *path) {
    int result = REAL(unlink)(path);
    const char *name = inside(path);
    if (name && result == 0) note(REMOVE, name, 0, NULL, 0);
    return result;
}

/* Nothing here renames files of a store; if that changes, the log must learn it first. */
int rename(const char *from, const char *to) {
    if (inside(from) || inside(to)) abort();
    return REAL(rename)(from, to);
}
