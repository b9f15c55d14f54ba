/* A disk that can fail, put under the real binary with LD_PRELOAD.
 *
 * It models what Linux does when a sync fails: the call answers EIO, the written pages stay in the page cache
 * and count as clean, and no later sync writes them. So a program reads what it wrote, and the disk does not have it.
 *
 * In the directory named by GANGER_DISK lie
 *   failing          while it exists, every sync fails
 *   ganger.db[-wal]  what the disk has: a page is copied there when a sync after its last write succeeded
 *   *.dirty          one byte for each page that was written since; shared, because pages outlive processes
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096
/* 64 MiB: more than a test writes. */
#define PAGES 16384

struct file {
    const char *name;
    int disk;
    unsigned char *dirty;
};

static struct file files[] = {{"ganger.db", -1, NULL}, {"ganger.db-wal", -1, NULL}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void in_directory(char *path, const char *name, const char *suffix)
{
    const char *directory = getenv("GANGER_DISK");
    if (!directory || snprintf(path, PATH_MAX, "%s/%s%s", directory, name, suffix) >= PATH_MAX)
        abort();
}

/* The file behind a descriptor, if it is one of ours. Called with the lock held. */
static struct file *ours(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return NULL;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = 0;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct file *file = &files[i];
        if (strcmp(name, file->name) != 0)
            continue;
        if (file->disk < 0) {
            in_directory(path, file->name, "");
            file->disk = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
            in_directory(path, file->name, ".dirty");
            int map = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
            int (*cut)(int, off_t) = dlsym(RTLD_NEXT, "ftruncate");
            if (file->disk < 0 || map < 0 || cut(map, PAGES) != 0)
                abort();
            file->dirty = mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
            if (file->dirty == MAP_FAILED)
                abort();
            close(map);
        }
        return file;
    }
    return NULL;
}

static void written(int fd, off_t from, ssize_t bytes)
{
    int error = errno;
    pthread_mutex_lock(&lock);
    struct file *file = bytes > 0 ? ours(fd) : NULL;
    for (off_t page = from / PAGE; file && page <= (from + bytes - 1) / PAGE; page++) {
        if (page >= PAGES)
            abort();
        file->dirty[page] = 1;
    }
    pthread_mutex_unlock(&lock);
    errno = error;
}

static int synced(int fd)
{
    pthread_mutex_lock(&lock);
    struct file *file = ours(fd);
    char failing[PATH_MAX];
    int fails = 0;
    if (file) {
        in_directory(failing, "failing", "");
        fails = access(failing, F_OK) == 0;
    }
    ssize_t (*put)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite64");
    for (off_t page = 0; file && page < PAGES; page++) {
        char bytes[PAGE];
        if (!file->dirty[page])
            continue;
        file->dirty[page] = 0;
        ssize_t length = fails ? 0 : pread(fd, bytes, PAGE, page * PAGE);
        if (length < 0 || (length > 0 && put(file->disk, bytes, length, page * PAGE) != length))
            abort();
    }
    pthread_mutex_unlock(&lock);
    errno = fails ? EIO : 0;
    return fails ? -1 : 0;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    ssize_t done = real(fd, bytes, count, at);
    written(fd, at, done);
    return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    return pwrite64(fd, bytes, count, at);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    ssize_t done = real(fd, bytes, count);
    int error = errno;
    off_t end = lseek(fd, 0, SEEK_CUR);
    if (done > 0 && end >= done)
        written(fd, end - done, done);
    errno = error;
    return done;
}

int ftruncate64(int fd, off64_t length)
{
    int (*real)(int, off64_t) = dlsym(RTLD_NEXT, "ftruncate64");
    int done = real(fd, length);
    pthread_mutex_lock(&lock);
    struct file *file = done == 0 ? ours(fd) : NULL;
    if (file && real(file->disk, length) != 0)
        abort();
    for (off_t page = (length + PAGE - 1) / PAGE; file && page < PAGES; page++)
        file->dirty[page] = 0;
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int fd, off_t length)
{
    return ftruncate64(fd, length);
}

int fsync(int fd)
{
    return synced(fd);
}

int fdatasync(int fd)
{
    return synced(fd);
}
