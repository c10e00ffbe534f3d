/* Mistakes of a program in a real job; the first argument says which. Errors are codes unless it traps. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void traps(void *in, void *inout, int *length, MPI_Datatype *type) { __builtin_trap(); }

static int finalized;
static void finalizes(void *in, void *inout, int *length, MPI_Datatype *type) { finalized = MPI_Finalize(); }

/* No loop can be made of it. */
__attribute__((noinline)) static long deep(long n) { return n < 0 ? 1 : deep(n + 1) + 3 * deep(n + 2); }

static const char *name_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class == MPI_SUCCESS ? "MPI_SUCCESS" : class == MPI_ERR_BASE ? "MPI_ERR_BASE" : class == MPI_ERR_ARG ? "MPI_ERR_ARG"
        : class == MPI_ERR_COUNT ? "MPI_ERR_COUNT" : class == MPI_ERR_RANK ? "MPI_ERR_RANK" : class == MPI_ERR_DIMS ? "MPI_ERR_DIMS"
        : "another";
}

int main(int argc, char **argv) {
    int rank, one = 1, sum, i;
    if (strcmp(argv[1], "early") == 0) MPI_Send(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    if (strcmp(argv[1], "late") == 0) {
        MPI_Finalize();
        MPI_Recv(&one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (strcmp(argv[1], "trap") == 0) {
        MPI_Op op;
        MPI_Op_create(traps, 1, &op);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    } else if (strcmp(argv[1], "finalize") == 0) {
        MPI_Op op;
        MPI_Op_create(finalizes, 1, &op);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        if (rank == 0) printf("%d\n", finalized == MPI_ERR_OTHER || sum != one);
    } else if (strcmp(argv[1], "deep") == 0) {
        printf("%ld\n", deep(argc));
    } else if (strcmp(argv[1], "free") == 0) {
        char *blocks[100], *other = malloc(100);
        for (i = 0; i < 100; i++) MPI_Alloc_mem(1000, MPI_INFO_NULL, &blocks[i]);
        printf("%s ", name_of(MPI_Free_mem(other)));
        printf("%s ", name_of(MPI_Free_mem(blocks[3] + 8)));
        printf("%s ", name_of(MPI_Free_mem((void *)12)));
        printf("%s ", name_of(MPI_Free_mem(blocks[3])));
        printf("%s\n", name_of(MPI_Free_mem(blocks[3])));
        for (i = 0; i < 100; i++) if (i != 3) memset(blocks[i], i, 1000);
        for (i = 0; i < 100; i++) if (i != 3 && (blocks[i][0] != i || blocks[i][999] != i)) printf("block %d is damaged\n", i);
    } else if (strcmp(argv[1], "file") == 0) {
        MPI_File file;
        char byte;
        MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
        MPI_File_open(MPI_COMM_SELF, argv[2], MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
        printf("%s ", name_of(MPI_File_preallocate(file, 0x7fffffffffffffff)));
        printf("%s ", name_of(MPI_File_set_size(file, 0x7fffffffffffffff)));
        printf("%s ", name_of(MPI_File_read_at(file, (1LL << 53) + 1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE)));
        printf("%s ", name_of(MPI_File_write_at(file, (1LL << 53) + 1, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE)));
        printf("%s\n", name_of(MPI_File_seek(file, 0x7fffffffffffffff, MPI_SEEK_SET)));
        MPI_File_close(&file);
    } else if (strcmp(argv[1], "huge") == 0) {
        /* The arrays are there: the memory has as many words. */
        int words = (int)(__builtin_wasm_memory_size(0) << 14) - 4096, *all = (int *)8192, flag;
        MPI_Group group, other;
        MPI_Comm comm;
        MPI_Info info;
        MPI_Comm_group(MPI_COMM_WORLD, &group);
        printf("%s ", name_of(MPI_Dims_create(6, words, all)));
        printf("%s ", name_of(MPI_Cart_create(MPI_COMM_WORLD, words, all, all, 0, &comm)));
        printf("%s ", name_of(MPI_Graph_create(MPI_COMM_WORLD, words, all, all, 0, &comm)));
        printf("%s ", name_of(MPI_Graph_map(MPI_COMM_WORLD, words, all, all, &flag)));
        printf("%s ", name_of(MPI_Group_incl(group, words, all, &other)));
        printf("%s ", name_of(MPI_Group_translate_ranks(group, words, all, group, all)));
        printf("%s ", name_of(MPI_Request_get_status_all(words, (MPI_Request *)all, &flag, MPI_STATUSES_IGNORE)));
        printf("%s ", name_of(MPI_Request_get_status_some(words, (MPI_Request *)all, &flag, all, MPI_STATUSES_IGNORE)));
        printf("%s ", name_of(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, words, all, MPI_UNWEIGHTED, words, all,
            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm)));
        printf("%s\n", name_of(MPI_Info_create_env(words, (char **)all, &info)));
    }
    MPI_Finalize();
    return 0;
}
