/*
 * Tries to leave the folders that it is given, in every way that a C program has. Each way has a folder of its own inside
 * (`<way>/`, the current folder) and one outside (`<outside>/<way>/`), which the test has made and watches:
 *
 *   inside   own.txt  sub/  sub/own.txt          outside  secret.txt  empty/  pointer -> secret.txt
 *
 * Prints for every way "<way>: <error>", "<way>: worked" when it has come through, or "<way>: wrong …" when something failed
 * that must work. The ways that need another rank are in two: rank 1 does what the name of the function says.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { LENGTH = 1024 };

static const char *way;
static const char *outside;
static int rank;

/** Paths of the way that is tried; eight of them at a time. */
static char *path_of(const char *format, const char *folder, const char *name) {
    static char paths[8][LENGTH];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, LENGTH, format, folder, way, name);
    return path;
}
static char *in(const char *name) { return path_of("%s/%s/%s", ".", name); }
static char *out(const char *name) { return path_of("%s/%s/%s", outside, name); }

static void must(int result, const char *what) {
    if (result >= 0) return;
    printf("%s: wrong %s %s\n", way, what, strerror(errno));
    exit(1);
}

/** A link inside, to somewhere outside. */
static void lead(const char *link, const char *target) { must(symlink(target, in(link)), "symlink"); }
/** The usual one: to the folder. */
static void lead_out(void) { lead("link", out(".")); }

static int opened(const char *path, int flags) {
    int fd = open(path, flags, 0644);
    if (fd >= 0) close(fd);
    return fd;
}

/* Through a link to a folder */

static int read_through(void) { lead_out(); return opened(in("link/secret.txt"), O_RDONLY); }
static int write_through(void) { lead_out(); return opened(in("link/secret.txt"), O_WRONLY); }
static int cut_through(void) { lead_out(); return opened(in("link/secret.txt"), O_WRONLY | O_TRUNC); }
static int create_through(void) { lead_out(); return opened(in("link/new"), O_WRONLY | O_CREAT); }
static int exclusive_through(void) { lead_out(); return opened(in("link/new"), O_WRONLY | O_CREAT | O_EXCL); }
static int nofollow_through(void) { lead_out(); return opened(in("link/secret.txt"), O_RDONLY | O_NOFOLLOW); }
static int unlink_through(void) { lead_out(); return unlink(in("link/secret.txt")); }
static int mkdir_through(void) { lead_out(); return mkdir(in("link/new"), 0755); }
static int rmdir_through(void) { lead_out(); return rmdir(in("link/empty")); }
static int rename_to_inside(void) { lead_out(); return rename(in("link/secret.txt"), in("stolen")); }
static int rename_to_outside(void) { lead_out(); return rename(in("own.txt"), in("link/planted")); }
static int rename_folder_outside(void) { lead_out(); return rename(in("sub"), in("link/planted")); }
static int rename_over(void) { lead_out(); return rename(in("own.txt"), in("link/secret.txt")); }
static int link_to_inside(void) { lead_out(); return link(in("link/secret.txt"), in("stolen")); }
static int link_to_outside(void) { lead_out(); return link(in("own.txt"), in("link/planted")); }
static int symlink_outside(void) { lead_out(); return symlink("nowhere", in("link/planted")); }
static int readlink_through(void) { char target[LENGTH]; lead_out(); return readlink(in("link/pointer"), target, LENGTH) < 0 ? -1 : 0; }
static int stat_through(void) { struct stat status; lead_out(); return stat(in("link/secret.txt"), &status); }
static int lstat_through(void) { struct stat status; lead_out(); return lstat(in("link/secret.txt"), &status); }
static int access_through(void) { lead_out(); return access(in("link/secret.txt"), R_OK); }
static int truncate_through(void) { lead_out(); return truncate(in("link/secret.txt"), 0); }
static int times_at(int folder, const char *path, int flags) {
    const struct timespec times[2] = {{1, 0}, {1, 0}};
    return utimensat(folder, path, times, flags);
}
static int times_through(void) { lead_out(); return times_at(AT_FDCWD, in("link/secret.txt"), 0); }
static int own_times_through(void) { lead_out(); return times_at(AT_FDCWD, in("link/secret.txt"), AT_SYMLINK_NOFOLLOW); }
static int list(const char *path) {
    DIR *folder = opendir(path);
    if (folder == NULL) return -1;
    int result = readdir(folder) == NULL ? -1 : 0;
    closedir(folder);
    return result;
}
static int list_through(void) { lead_out(); return list(in("link")); }
static int chdir_through(void) {
    lead_out();
    if (chdir(in("link")) < 0) return -1;
    int result = opened("secret.txt", O_RDONLY);
    int error = errno;
    must(chdir("../.."), "chdir");
    errno = error;
    return result;
}

/* Links to a file */

static int read_link(void) { lead("link", out("secret.txt")); return opened(in("link"), O_RDONLY); }
static int cut_link(void) { lead("link", out("secret.txt")); return opened(in("link"), O_WRONLY | O_TRUNC); }
static int create_link(void) { lead("link", out("secret.txt")); return opened(in("link"), O_WRONLY | O_CREAT); }
static int dangling_link(void) { lead("link", out("new")); return opened(in("link"), O_WRONLY | O_CREAT); }
static int truncate_link(void) { lead("link", out("secret.txt")); return truncate(in("link"), 0); }
static int stat_link(void) { struct stat status; lead("link", out("secret.txt")); return stat(in("link"), &status); }
static int times_link(void) { lead("link", out("secret.txt")); return times_at(AT_FDCWD, in("link"), 0); }
/** It changes the link itself, which is inside. */
static int own_times_link(void) { lead("link", out("secret.txt")); must(times_at(AT_FDCWD, in("link"), AT_SYMLINK_NOFOLLOW), "times"); errno = ENOTCAPABLE; return -1; }
static int hard_link_followed(void) { lead("link", out("secret.txt")); return linkat(AT_FDCWD, in("link"), AT_FDCWD, in("stolen"), AT_SYMLINK_FOLLOW); }
static int hard_link_of_link(void) { lead("link", out("secret.txt")); must(link(in("link"), in("second")), "link"); return opened(in("second"), O_RDONLY); }

/* Links that are not what they seem */

/** From <inside>/<way> to <outside>/<way>, which the test has put side by side. */
static void lead_up(const char *link, const char *rest) {
    char target[LENGTH];
    snprintf(target, LENGTH, "../../outside/%s/%s", way, rest);
    lead(link, target);
}
static int relative_link(void) { lead_up("link", ""); return opened(in("link/secret.txt"), O_RDONLY); }
static int relative_dangling(void) { lead_up("link", "new"); return opened(in("link"), O_WRONLY | O_CREAT); }
static int chain(void) { lead("a", "b"); lead("b", "sub/../c"); lead("c", out("secret.txt")); return opened(in("a"), O_RDONLY); }
static int chain_dangling(void) { lead("a", "b"); lead("b", out("new")); return opened(in("a"), O_WRONLY | O_CREAT); }
static int circle(void) { lead("a", "b"); lead("b", "a"); return opened(in("a"), O_WRONLY | O_CREAT); }
static int link_to_root(void) { char name[LENGTH]; lead("link", "/"); snprintf(name, LENGTH, "link%s", out("secret.txt")); return opened(in(name), O_RDONLY); }
static int up_after_link(void) { char name[LENGTH]; lead("link", "sub"); snprintf(name, LENGTH, "link/../../../outside/%s/secret.txt", way); return opened(in(name), O_RDONLY); }
/** The folder above the link's target, which is outside, not the one that has the link. */
static int up_after_link_out(void) { char name[LENGTH]; lead("link", out("empty")); snprintf(name, LENGTH, "link/../secret.txt"); return opened(in(name), O_RDONLY); }
static int slash_after_link(void) { lead_out(); return rmdir(in("link/empty/")); }
static int dot_after_link(void) { lead_out(); return mkdir(in("link/./new"), 0755); }

/* Names */

static int whole_name(void) { return opened(out("secret.txt"), O_RDONLY); }
static int up(void) { char name[LENGTH]; snprintf(name, LENGTH, "../../outside/%s/secret.txt", way); return opened(in(name), O_RDONLY); }
static int up_to_create(void) { char name[LENGTH]; snprintf(name, LENGTH, "../../outside/%s/new", way); return mkdir(in(name), 0755); }

/* A folder that is open, and another in its place */

static int swapped(void) {
    int folder = open(in("sub"), O_RDONLY | O_DIRECTORY);
    must(folder, "open");
    must(rename(in("sub"), in("moved")), "rename");
    lead("sub", out("."));
    return folder;
}
static int open_in_swapped(void) { int fd = openat(swapped(), "secret.txt", O_RDONLY); if (fd >= 0) close(fd); return fd; }
static int create_in_swapped(void) { int fd = openat(swapped(), "new", O_WRONLY | O_CREAT, 0644); if (fd >= 0) close(fd); return fd; }
static int unlink_in_swapped(void) { return unlinkat(swapped(), "secret.txt", 0); }
static int mkdir_in_swapped(void) { return mkdirat(swapped(), "empty", 0755); }
static int rmdir_in_swapped(void) { return unlinkat(swapped(), "empty", AT_REMOVEDIR); }
static int rename_in_swapped(void) { return renameat(swapped(), "secret.txt", AT_FDCWD, in("stolen")); }
static int stat_in_swapped(void) { struct stat status; return fstatat(swapped(), "secret.txt", &status, 0); }
static int times_in_swapped(void) { return times_at(swapped(), "secret.txt", 0); }
static int list_swapped(void) {
    DIR *folder = fdopendir(swapped());
    if (folder == NULL) return -1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) if (strcmp(entry->d_name, "secret.txt") == 0) return 0;
    errno = ENOTCAPABLE;
    return -1;
}

/* The system's own files */

static int proc_mem(void) { lead("link", "/proc/self/mem"); return opened(in("link"), O_RDWR); }
static int proc_mem_below(void) { lead("link", "/proc/self"); return opened(in("link/mem"), O_RDWR); }
static int proc_fd(void) { lead("link", "/proc/self/fd"); return opened(in("link/2"), O_WRONLY); }
static int proc_root(void) { lead("link", "/proc/self/root"); return list(in("link")); }
static int proc_cwd(void) { lead("link", "/proc/self/cwd"); return list(in("link/..")); }
static int proc_environ(void) { lead("link", "/proc/self/environ"); return opened(in("link"), O_RDONLY); }
/** Refused as outside, or as the kernel's where everything is given. */
static int proc_by_name(void) { return opened("/proc/self/mem", O_RDWR); }
static int device(void) { lead("link", "/dev/kmsg"); return opened(in("link"), O_RDONLY); }
/** The test has put it there. */
static int fifo_read(void) { return opened(in("fifo"), O_RDONLY); }
static int fifo_write(void) { return opened(in("fifo"), O_WRONLY); }
static int fifo_through_link(void) { lead("link", "fifo"); return opened(in("link"), O_RDONLY); }

/* MPI's files */

static int mpi_opened(const char *path, int mode) {
    MPI_File file;
    int error = MPI_File_open(MPI_COMM_SELF, path, mode, MPI_INFO_NULL, &file);
    if (error == MPI_SUCCESS) return MPI_File_close(&file);
    MPI_Error_class(error, &error);
    errno = error == MPI_ERR_ACCESS ? ENOTCAPABLE : error == MPI_ERR_BAD_FILE ? ELOOP : EIO;
    return -1;
}
static int mpi_read(void) { lead("link", out("secret.txt")); return mpi_opened(in("link"), MPI_MODE_RDONLY); }
static int mpi_read_through(void) { lead_out(); return mpi_opened(in("link/secret.txt"), MPI_MODE_RDWR); }
static int mpi_create_through(void) { lead_out(); return mpi_opened(in("link/new"), MPI_MODE_RDWR | MPI_MODE_CREATE); }
static int mpi_create_dangling(void) { lead("link", out("new")); return mpi_opened(in("link"), MPI_MODE_RDWR | MPI_MODE_CREATE); }
static int mpi_delete_on_close(void) { lead_out(); return mpi_opened(in("link/secret.txt"), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE); }
static int mpi_whole_name(void) { return mpi_opened(out("secret.txt"), MPI_MODE_RDONLY); }
static int mpi_fifo(void) { return mpi_opened(in("fifo"), MPI_MODE_RDONLY); }
static int mpi_proc(void) { lead("link", "/proc/self/mem"); return mpi_opened(in("link"), MPI_MODE_RDWR); }
static int mpi_delete(const char *path) {
    int error = MPI_File_delete(path, MPI_INFO_NULL);
    if (error == MPI_SUCCESS) return 0;
    errno = ENOTCAPABLE;
    return -1;
}
static int mpi_delete_through(void) { lead_out(); return mpi_delete(in("link/secret.txt")); }
static int mpi_delete_whole(void) { return mpi_delete(out("secret.txt")); }

/* Links that stay inside must work */

static int stays_inside(void) {
    char here[LENGTH], whole[LENGTH + LENGTH];
    struct stat status;
    lead("near", "own.txt");
    lead("down", "sub");
    lead("up", "sub/../own.txt");
    must(getcwd(here, LENGTH) == NULL ? -1 : 0, "getcwd");
    snprintf(whole, sizeof whole, "%s/%s/own.txt", here, way);
    lead("whole", whole);
    lead("fresh", "sub/fresh.txt");
    must(opened(in("near"), O_RDWR), "near");
    must(opened(in("down/own.txt"), O_RDONLY), "down");
    must(opened(in("down/../own.txt"), O_RDONLY), "down/..");
    must(opened(in("up"), O_RDONLY), "up");
    must(opened(in("whole"), O_RDONLY), "whole");
    must(opened(in("fresh"), O_WRONLY | O_CREAT), "fresh");
    must(stat(in("sub/fresh.txt"), &status), "made through a link");
    must(list(in("down")), "list");
    must(rename(in("down/own.txt"), in("sub/renamed.txt")), "rename");
    must(unlink(in("near")), "unlink");
    must(stat(in("own.txt"), &status), "what the link led to");
    must(mkdir(in("down/new"), 0755), "mkdir");
    must(rmdir(in("sub/new")), "rmdir");
    must(mpi_opened(in("up"), MPI_MODE_RDWR), "MPI_File_open");
    errno = ENOTCAPABLE;
    return -1;
}

static const struct { const char *name; int (*attempt)(void); } ways[] = {
#define WAY(name) {#name, name}
    WAY(read_through), WAY(write_through), WAY(cut_through), WAY(create_through), WAY(exclusive_through),
    WAY(nofollow_through), WAY(unlink_through), WAY(mkdir_through), WAY(rmdir_through), WAY(rename_to_inside),
    WAY(rename_to_outside), WAY(rename_folder_outside), WAY(rename_over), WAY(link_to_inside), WAY(link_to_outside),
    WAY(symlink_outside), WAY(readlink_through), WAY(stat_through), WAY(lstat_through), WAY(access_through),
    WAY(truncate_through), WAY(times_through), WAY(own_times_through), WAY(list_through), WAY(chdir_through),
    WAY(read_link), WAY(cut_link), WAY(create_link), WAY(dangling_link), WAY(truncate_link), WAY(stat_link),
    WAY(times_link), WAY(own_times_link), WAY(hard_link_followed), WAY(hard_link_of_link), WAY(relative_link),
    WAY(relative_dangling), WAY(chain), WAY(chain_dangling), WAY(circle), WAY(link_to_root), WAY(up_after_link),
    WAY(up_after_link_out), WAY(slash_after_link), WAY(dot_after_link), WAY(whole_name), WAY(up), WAY(up_to_create),
    WAY(open_in_swapped), WAY(create_in_swapped), WAY(unlink_in_swapped), WAY(mkdir_in_swapped), WAY(rmdir_in_swapped),
    WAY(rename_in_swapped), WAY(stat_in_swapped), WAY(times_in_swapped), WAY(list_swapped), WAY(proc_mem),
    WAY(proc_mem_below), WAY(proc_fd), WAY(proc_root), WAY(proc_cwd), WAY(proc_environ), WAY(proc_by_name), WAY(device), WAY(fifo_read),
    WAY(fifo_write), WAY(fifo_through_link), WAY(mpi_read), WAY(mpi_read_through), WAY(mpi_create_through),
    WAY(mpi_create_dangling), WAY(mpi_delete_on_close), WAY(mpi_whole_name), WAY(mpi_fifo), WAY(mpi_proc),
    WAY(mpi_delete_through), WAY(mpi_delete_whole), WAY(stays_inside),
};

/* Ways for two: rank 1 swaps a folder and a link to the outside while rank 0 goes through it. */

static void swap_again_and_again(int times) {
    lead("link", out("."));
    for (int i = 0; i < times; i++) {
        must(rename(in("sub"), in("kept")), "rename");
        must(rename(in("link"), in("sub")), "rename");
        must(rename(in("sub"), in("link")), "rename");
        must(rename(in("kept"), in("sub")), "rename");
    }
}

static void race(void) {
    int through = 0;
    int done = 0;
    way = "race";
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        swap_again_and_again(3000);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        return;
    }
    if (rank != 0) return;
    while (!done) {
        struct stat status;
        through += opened(in("sub/secret.txt"), O_RDONLY) >= 0;
        opened(in("sub/planted"), O_WRONLY | O_CREAT);
        through += stat(in("sub/secret.txt"), &status) == 0;
        through += unlink(in("sub/secret.txt")) == 0;
        mkdir(in("sub/made"), 0755);
        rmdir(in("sub/empty"));
        MPI_Iprobe(1, 0, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (through == 0) printf("race: refused\n");
    else printf("race: worked %d times\n", through);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    outside = argv[1];
    for (size_t i = 0; rank == 0 && i < sizeof ways / sizeof *ways; i++) {
        if (argc > 2 && strcmp(argv[2], ways[i].name) != 0) continue;
        way = ways[i].name;
        errno = 0;
        if (ways[i].attempt() >= 0) printf("%s: worked\n", way);
        else printf("%s: refused %d\n", way, errno);
        fflush(stdout);
    }
    if (argc <= 2 || strcmp(argv[2], "race") == 0) race();
    return MPI_Finalize();
}
