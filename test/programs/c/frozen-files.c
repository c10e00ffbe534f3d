/* MPI's files stay open while the job is frozen: each step goes on where the pointers were. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, size, wrong = 0, all;
    MPI_File own, shared;
    MPI_Datatype every;
    MPI_Offset bytes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int steps = atoi(argv[1]), mode = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR;
    MPI_File_open(MPI_COMM_WORLD, "own.bin", mode, MPI_INFO_NULL, &own);
    MPI_File_open(MPI_COMM_WORLD, "shared.bin", mode, MPI_INFO_NULL, &shared);
    MPI_Type_create_resized(MPI_INT, 0, 4 * size, &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(own, 4 * rank, MPI_INT, every, "native", MPI_INFO_NULL);
    MPI_File_set_view(shared, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_Type_free(&every);
    for (int step = 0; step < steps; step++) {
        int word = step * size + rank;
        MPI_File_write(own, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
        if (step % 3)
            MPI_File_write_shared(shared, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
        else
            MPI_File_write_ordered(shared, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) printf("step %d\n", step), fflush(stdout);
        usleep(10000);
    }
    int *words = malloc(4 * steps * size), *seen = calloc(steps * size, 4);
    MPI_File_get_size(shared, &bytes);
    wrong += bytes != 4 * steps * size;
    MPI_File_read_at_all(shared, 0, words, steps * size, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < steps * size; i++) {
        if (words[i] < 0 || words[i] >= steps * size || seen[words[i]]++) wrong++;
        if (words[i] / size != i / size) wrong++;
    }
    MPI_File_set_view(own, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_all(own, words, steps * size, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < steps * size; i++) wrong += words[i] != i;
    MPI_File_close(&own);
    MPI_File_close(&shared);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d wrong\n", all);
    return MPI_Finalize();
}
