/*
 * Every rank appends to a log and turns it over, makes and removes folders, creates files that must not be there, counts in a file by
 * reading, adding and writing, overwrites a table in place; and all of them write to one file by its shared pointer. What they send
 * depends on none of it. Arguments: a folder, how many rounds.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char name[300], other[300], line[100];

static const char *path(char *into, const char *folder, const char *what, int rank, int number) {
    sprintf(into, "%s/%s.%d.%d", folder, what, rank, number);
    return into;
}

static void fail(const char *what) {
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static void count_in(const char *file) {
    int number = 0;
    int counter = open(file, O_RDWR | O_CREAT, 0644);
    if (counter < 0) fail("open of the counter");
    ssize_t got = read(counter, line, 20);
    line[got < 0 ? 0 : got] = 0;
    number = atoi(line);
    lseek(counter, 0, SEEK_SET);
    sprintf(line, "%d", number + 1);
    if (write(counter, line, strlen(line)) < 0) fail("write of the counter");
    close(counter);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *folder = argv[1];
    int rounds = atoi(argv[2]), turned = 0;
    FILE *log = fopen(path(name, folder, "log", rank, 0), "a");
    FILE *table = fopen(path(name, folder, "table", rank, 0), "w+");
    if (log == NULL || table == NULL) fail("open");
    MPI_File shared;
    sprintf(name, "%s/shared", folder);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &shared);
    for (int i = 0; i < rounds; i++) {
        int value = 100 * rank + i, from;
        MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fprintf(log, "rank %d, round %d, from %d\n", rank, i, from);
        fflush(log);
        fseek(table, 8 * (i % 16), SEEK_SET);
        fprintf(table, "%07d\n", i);
        fflush(table);
        count_in(path(name, folder, "counter", rank, 0));
        if (i % 5 == 2) {
            int file = open(path(name, folder, "new", rank, i), O_CREAT | O_EXCL | O_WRONLY, 0644);
            if (file < 0) fail("a file that must be new");
            close(file);
            if (i % 10 == 2 && unlink(name) != 0) fail("unlink");
            if (mkdir(path(name, folder, "folder", rank, i), 0755) != 0) fail("mkdir");
            if (i % 10 != 2 && rmdir(name) != 0) fail("rmdir");
        }
        if (i % 8 == 7) {
            fclose(log);
            if (rename(path(name, folder, "log", rank, 0), path(other, folder, "old", rank, ++turned)) != 0) fail("rename");
            log = fopen(name, "a");
            if (log == NULL) fail("open of the next log");
        }
        sprintf(line, "%d of %d\n", i, rank);
        MPI_File_write_ordered(shared, line, (int)strlen(line), MPI_CHAR, MPI_STATUS_IGNORE);
        if (rank == 0) {
            printf("round %d\n", i);
            fflush(stdout);
        }
    }
    MPI_File_close(&shared);
    fclose(log);
    fclose(table);
    MPI_Finalize();
    return 0;
}
