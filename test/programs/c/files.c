/* MPI's files: every way to read and write, views, pointers, errors. Run in a folder that may be written to. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state) { return MPI_SUCCESS; }

static int rank, size, errors;
static const char *data = "files-data.bin";

#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            errors++;                                                                      \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #condition);         \
        }                                                                                  \
    } while (0)
#define OK(call) CHECK((call) == MPI_SUCCESS)

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static int count_of(MPI_Status *status, MPI_Datatype type) {
    int count;
    MPI_Get_count(status, type, &count);
    return count;
}

static MPI_File open_with(int mode) {
    MPI_File file = MPI_FILE_NULL;
    OK(MPI_File_open(MPI_COMM_WORLD, data, mode, MPI_INFO_NULL, &file));
    return file;
}

/* Rank r writes ints r*100 … r*100+9 at its place, all read those of the next one. */
static void at_offsets(void) {
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Offset bytes;
    int mine[10], other[10], next = (rank + 1) % size;
    OK(MPI_File_set_size(file, 0));
    for (int i = 0; i < 10; i++) mine[i] = rank * 100 + i;
    OK(MPI_File_write_at(file, rank * 40, mine, 10, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 10);
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 40 * size);
    OK(MPI_File_read_at_all(file, next * 40, other, 10, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 10);
    for (int i = 0; i < 10; i++) CHECK(other[i] == next * 100 + i);

    /* A read that meets the end of the file is short. */
    memset(&status, 1, sizeof status);
    OK(MPI_File_read_at(file, 40 * size - 10, other, 10, MPI_INT, &status));
    CHECK(count_of(&status, MPI_BYTE) == 10 && count_of(&status, MPI_INT) == MPI_UNDEFINED);
    OK(MPI_File_read_at(file, 40 * size, other, 10, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 0);
    OK(MPI_File_read_at(file, 0, NULL, 0, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 0);

    /* Large counts, requests of both kinds, and a completion with others. */
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int again[10] = {0}, token = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 10; i++) mine[i] += 5;
    OK(MPI_File_iwrite_at_c(file, rank * 40, mine, (MPI_Count)10, MPI_INT, &requests[0]));
    CHECK(requests[0] != MPI_REQUEST_NULL);
    OK(MPI_File_iread_at(file, rank * 40, again, 10, MPI_INT, &requests[1]));
    MPI_Irecv(&token, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[2]);
    MPI_Send(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    OK(MPI_Waitall(3, requests, statuses));
    CHECK(requests[0] == MPI_REQUEST_NULL && count_of(&statuses[0], MPI_INT) == 10);
    CHECK(count_of(&statuses[1], MPI_INT) == 10 && memcmp(mine, again, sizeof mine) == 0);
    CHECK(statuses[2].MPI_TAG == 3);
    OK(MPI_File_iread_at_all(file, rank * 40, again, 10, MPI_INT, &requests[0]));
    int flag = 0;
    while (!flag) OK(MPI_Test(&requests[0], &flag, &status));
    CHECK(count_of(&status, MPI_INT) == 10);
    OK(MPI_File_iwrite_at_all(file, rank * 40, mine, 10, MPI_INT, &requests[0]));
    OK(MPI_Request_free(&requests[0]));

    OK(MPI_File_preallocate(file, 10));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 40 * size);
    OK(MPI_File_preallocate(file, 100 * size));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 100 * size);
    OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
}

/* Individual pointers, seeks, appending. */
static void pointers(void) {
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Offset where;
    MPI_Request request;
    int numbers[6] = {1, 2, 3, 4, 5, 6}, got[6] = {0};
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_view(file, rank * 24, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write(file, numbers, 2, MPI_INT, &status));
    OK(MPI_File_write_all(file, numbers + 2, 2, MPI_INT, &status));
    OK(MPI_File_iwrite(file, numbers + 4, 2, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_INT) == 2);
    OK(MPI_File_get_position(file, &where));
    CHECK(where == 6);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek(file, 1, MPI_SEEK_SET));
    OK(MPI_File_seek(file, 1, MPI_SEEK_CUR));
    OK(MPI_File_read(file, got, 1, MPI_INT, &status));
    CHECK(got[0] == 3);
    OK(MPI_File_read_all(file, got, 1, MPI_INT, &status));
    CHECK(got[0] == 4);
    OK(MPI_File_iread(file, got, 1, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(got[0] == 5);
    OK(MPI_File_iread_all(file, got, 1, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(got[0] == 6);
    OK(MPI_File_seek(file, -6 * (size - rank), MPI_SEEK_END));
    OK(MPI_File_get_position(file, &where));
    CHECK(where == 0);
    CHECK(class_of(MPI_File_seek(file, -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
    OK(MPI_File_get_byte_offset(file, 3, &where));
    CHECK(where == rank * 24 + 12);
    /* A pointer goes on by what was there. */
    OK(MPI_File_seek(file, -2, MPI_SEEK_END));
    OK(MPI_File_read(file, got, 6, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 2 && got[1] == 6);
    OK(MPI_File_get_position(file, &where));
    CHECK(where == 6 * (size - rank));
    OK(MPI_File_close(&file));

    file = open_with(MPI_MODE_WRONLY | MPI_MODE_APPEND);
    OK(MPI_File_get_position(file, &where));
    CHECK(where == 24 * size);
    OK(MPI_File_get_position_shared(file, &where));
    CHECK(where == 24 * size);
    OK(MPI_File_close(&file));
}

/* A matrix in the file, columns dealt out to the ranks; the same in memory with gaps. */
static void views(void) {
    enum { ROWS = 50, WIDTH = 3 };
    int columns = size * WIDTH, sizes[2] = {ROWS, columns}, part[2] = {ROWS, WIDTH}, start[2] = {0, rank * WIDTH};
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype filetype, memory, etype_used, filetype_used;
    MPI_Status status;
    MPI_Offset where, displacement;
    char representation[MPI_MAX_DATAREP_STRING];
    OK(MPI_File_set_size(file, 0));
    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    MPI_Type_vector(ROWS, WIDTH, WIDTH + 2, MPI_INT, &memory);
    MPI_Type_commit(&memory);
    OK(MPI_File_set_view(file, 16, MPI_INT, filetype, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &displacement, &etype_used, &filetype_used, representation));
    CHECK(displacement == 16 && etype_used == MPI_INT && strcmp(representation, "native") == 0);
    int bytes;
    MPI_Type_size(filetype_used, &bytes);
    CHECK(bytes == ROWS * WIDTH * 4);
    MPI_Type_free(&filetype_used);

    static int grid[ROWS][WIDTH + 2], other[ROWS][WIDTH + 2], flat[ROWS * WIDTH];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDTH + 2; j++) grid[i][j] = i * columns + rank * WIDTH + j, other[i][j] = -1;
    OK(MPI_File_write_all(file, grid, 1, memory, &status));
    CHECK(count_of(&status, memory) == 1);
    MPI_Type_free(&filetype);
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all(file, other, 1, memory, &status));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < WIDTH + 2; j++) CHECK(other[i][j] == (j < WIDTH ? grid[i][j] : -1));
    OK(MPI_File_read_at(file, WIDTH + 1, flat, 2 * WIDTH, MPI_INT, &status));
    CHECK(flat[0] == grid[1][1] && flat[WIDTH] == grid[2][1]);
    OK(MPI_File_get_byte_offset(file, WIDTH + 1, &where));
    CHECK(where == 16 + 4 * (columns + rank * WIDTH + 1));

    /* The whole of it, by whoever looks without a view. */
    OK(MPI_File_set_view(file, 16, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    int *all = malloc(4 * ROWS * columns + 4);
    OK(MPI_File_read_at_all(file, 0, all, ROWS * columns + 1, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == ROWS * columns);
    for (int i = 0; i < ROWS * columns; i++) CHECK(all[i] == i);
    free(all);

    /* Big endian. */
    int number = 0x01020304;
    unsigned char four[4];
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(file, 0, &number, 1, MPI_INT, &status));
    number = 0;
    OK(MPI_File_read_at_all(file, 0, &number, 1, MPI_INT, &status));
    CHECK(number == 0x01020304 && count_of(&status, MPI_INT) == 1);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at_all(file, 0, four, 4, MPI_BYTE, &status));
    CHECK(four[0] == 1 && four[3] == 4);
    MPI_Aint extent;
    OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
    CHECK(extent == 8);
    MPI_Type_free(&memory);
    OK(MPI_File_close(&file));
}

/* Everybody takes pieces of a file from one pointer: each piece goes to one. */
static void shared_pointer(void) {
    enum { EACH = 20 };
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Offset where;
    MPI_Request request;
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < EACH; i++) {
        int word = rank * EACH + i;
        if (i % 2) {
            OK(MPI_File_write_shared(file, &word, 1, MPI_INT, &status));
        } else {
            OK(MPI_File_iwrite_shared(file, &word, 1, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
        }
        CHECK(count_of(&status, MPI_INT) == 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(file, &where));
    CHECK(where == EACH * size);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    int *seen = calloc(EACH * size, sizeof(int)), *total = calloc(EACH * size, sizeof(int));
    for (int i = 0; i < EACH; i++) {
        int word = -1;
        OK(MPI_File_read_shared(file, &word, 1, MPI_INT, &status));
        CHECK(word >= 0 && word < EACH * size);
        if (word >= 0 && word < EACH * size) seen[word]++;
    }
    MPI_Allreduce(seen, total, EACH * size, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < EACH * size; i++) CHECK(total[i] == 1);
    free(seen);
    free(total);

    /* In the order of ranks: rank r has r + 1 numbers. */
    int before = rank * (rank + 1) / 2, all = size * (size + 1) / 2;
    int *mine = malloc(4 * (rank + 1));
    for (int i = 0; i <= rank; i++) mine[i] = before + i;
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_END));
    OK(MPI_File_seek_shared(file, -EACH * size, MPI_SEEK_CUR));
    OK(MPI_File_write_ordered(file, mine, rank + 1, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == rank + 1);
    OK(MPI_File_write_ordered_begin(file, mine, rank + 1, MPI_INT));
    OK(MPI_File_write_ordered_end(file, mine, &status));
    CHECK(count_of(&status, MPI_INT) == rank + 1);
    OK(MPI_File_get_position_shared(file, &where));
    CHECK(where == 2 * all);
    MPI_Barrier(MPI_COMM_WORLD);
    int *whole = malloc(4 * 2 * all);
    OK(MPI_File_read_at_all(file, 0, whole, 2 * all, MPI_INT, &status));
    for (int i = 0; i < 2 * all; i++) CHECK(whole[i] == i % all);
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    memset(mine, 0, 4 * (rank + 1));
    OK(MPI_File_read_ordered(file, mine, rank + 1, MPI_INT, &status));
    for (int i = 0; i <= rank; i++) CHECK(mine[i] == before + i);
    memset(mine, 0, 4 * (rank + 1));
    OK(MPI_File_read_ordered_begin_c(file, mine, rank + 1, MPI_INT));
    OK(MPI_File_read_ordered_end(file, mine, &status));
    for (int i = 0; i <= rank; i++) CHECK(mine[i] == before + i);
    free(mine);
    free(whole);
    OK(MPI_File_close(&file));

    /* A stream: the shared pointer alone. */
    file = open_with(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
    int two[2], word;
    if (rank == 0) OK(MPI_File_read_shared(file, two, 2, MPI_INT, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(class_of(MPI_File_read_at(file, 0, &word, 1, MPI_INT, &status)) == MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(class_of(MPI_File_seek(file, 0, MPI_SEEK_SET)) == MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_ordered(file, &word, 1, MPI_INT, &status));
    CHECK(word == rank);
    OK(MPI_File_close(&file));
}

/* All members write over each other, in many pieces: one of them has the last word everywhere. */
static void atomic_writes(void) {
    enum { PIECES = 200 };
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Datatype every_other;
    int flag, words[PIECES], got[PIECES];
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag == 0);
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag == 1);
    MPI_Type_vector(PIECES, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    OK(MPI_File_set_view(file, 0, MPI_INT, every_other, "native", MPI_INFO_NULL));
    for (int i = 0; i < PIECES; i++) words[i] = rank;
    for (int round = 0; round < 5; round++) {
        OK(MPI_File_write_at(file, 0, words, PIECES, MPI_INT, MPI_STATUS_IGNORE));
        OK(MPI_File_read_at(file, 0, got, PIECES, MPI_INT, MPI_STATUS_IGNORE));
        for (int i = 1; i < PIECES; i++) CHECK(got[i] == got[0]);
    }
    MPI_Type_free(&every_other);
    OK(MPI_File_close(&file));
}

static void split_collectives(void) {
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    int words[4] = {rank, rank + 1, rank + 2, rank + 3}, got[4];
    OK(MPI_File_write_at_all_begin(file, rank * 16, words, 4, MPI_INT));
    CHECK(MPI_File_write_at_all_begin(file, rank * 16, words, 4, MPI_INT) != MPI_SUCCESS);
    CHECK(MPI_File_read_all_end(file, words, &status) != MPI_SUCCESS);
    OK(MPI_File_write_at_all_end(file, words, &status));
    CHECK(count_of(&status, MPI_INT) == 4);
    OK(MPI_File_read_at_all_begin(file, rank * 16, got, 4, MPI_INT));
    OK(MPI_File_read_at_all_end(file, got, &status));
    CHECK(memcmp(words, got, sizeof got) == 0);
    OK(MPI_File_seek(file, rank * 16, MPI_SEEK_SET));
    OK(MPI_File_write_all_begin(file, words, 2, MPI_INT));
    OK(MPI_File_write_all_end(file, words, &status));
    OK(MPI_File_read_all_begin(file, got, 2, MPI_INT));
    OK(MPI_File_read_all_end(file, got, &status));
    CHECK(got[0] == words[2] && count_of(&status, MPI_INT) == 2);
    OK(MPI_File_close(&file));
}

static int handled;
static void handle(MPI_File *file, int *code, ...) {
    (void)file;
    handled = class_of(*code);
}

static void errors_and_modes(void) {
    MPI_File file = MPI_FILE_NULL, second;
    MPI_Errhandler handler, before;
    MPI_Group group, world;
    MPI_Info info;
    int mode, same, word = 0;
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, "no-such-file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) ==
          MPI_ERR_NO_SUCH_FILE);
    CHECK(file == MPI_FILE_NULL);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, "/no-such-folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) ==
          MPI_ERR_ACCESS);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, "../outside", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_ACCESS);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, ".", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_BAD_FILE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, data, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file)) ==
          MPI_ERR_AMODE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, data, MPI_MODE_RDONLY | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) ==
          MPI_ERR_AMODE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, data, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file)) ==
          MPI_ERR_AMODE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, data, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL,
                                 &file)) == MPI_ERR_FILE_EXISTS);
    /* One who wants something else fails everywhere. */
    if (size > 1)
        CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, data, rank == 1 ? MPI_MODE_RDONLY : MPI_MODE_RDWR, MPI_INFO_NULL,
                                     &file)) == MPI_ERR_NOT_SAME);
    if (size > 1)
        CHECK(MPI_File_open(MPI_COMM_WORLD, rank == 1 ? "no-such-file" : data, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) !=
              MPI_SUCCESS);
    CHECK(class_of(MPI_File_close(&file)) == MPI_ERR_FILE);
    CHECK(class_of(MPI_File_read_at(MPI_FILE_NULL, 0, &word, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_FILE);

    /* Created once, gone when it is closed. */
    OK(MPI_File_open(MPI_COMM_WORLD, "files-once.bin",
                     MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    OK(MPI_File_get_amode(file, &mode));
    CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE));
    OK(MPI_File_get_group(file, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    CHECK(same == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    OK(MPI_File_close(&file));
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, "files-once.bin", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) ==
          MPI_ERR_NO_SUCH_FILE);

    /* What a mode does not allow. */
    file = open_with(MPI_MODE_RDONLY);
    CHECK(class_of(MPI_File_write_at(file, 0, &word, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_READ_ONLY);
    CHECK(class_of(MPI_File_set_size(file, 0)) == MPI_ERR_READ_ONLY);
    CHECK(class_of(MPI_File_read_at(file, -1, &word, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_File_read_at(file, 0, &word, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_File_read_at(file, 0, &word, -1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "klingon", MPI_INFO_NULL)) ==
          MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK(class_of(MPI_File_set_view(file, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)) == MPI_ERR_DISP);
    CHECK(class_of(MPI_File_set_view(file, 0, MPI_INT, MPI_BYTE, "native", MPI_INFO_NULL)) == MPI_ERR_ARG);
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK(class_of(MPI_File_read_at(file, 0, &word, 3, MPI_BYTE, MPI_STATUS_IGNORE)) == MPI_ERR_IO);
    OK(MPI_File_close(&file));
    file = open_with(MPI_MODE_WRONLY);
    CHECK(class_of(MPI_File_read(file, &word, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);

    /* Handlers: a file's own, and the one that files inherit. */
    OK(MPI_File_create_errhandler(handle, &handler));
    OK(MPI_File_get_errhandler(file, &before));
    CHECK(before == MPI_ERRORS_RETURN);
    OK(MPI_File_set_errhandler(file, handler));
    MPI_File_read(file, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(handled == MPI_ERR_ACCESS);
    OK(MPI_File_call_errhandler(file, MPI_ERR_IO));
    CHECK(handled == MPI_ERR_IO);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    OK(MPI_File_open(MPI_COMM_SELF, data, MPI_MODE_WRONLY, MPI_INFO_NULL, &second));
    MPI_File_read(second, &word, 1, MPI_INT, MPI_STATUS_IGNORE);
    CHECK(handled == MPI_ERR_ACCESS);
    CHECK(class_of(MPI_File_delete("no-such-file", MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
    CHECK(handled == MPI_ERR_NO_SUCH_FILE);
    OK(MPI_File_close(&second));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    MPI_Errhandler_free(&handler);
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);

    char value[20];
    int flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "read_once");
    MPI_Info_set(info, "unheard_of", "yes");
    OK(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    OK(MPI_File_get_info(file, &info));
    MPI_Info_get(info, "access_style", 19, value, &flag);
    CHECK(flag && strcmp(value, "read_once") == 0);
    MPI_Info_get(info, "unheard_of", 19, value, &flag);
    CHECK(!flag);
    MPI_Info_free(&info);
    OK(MPI_File_close(&file));
    CHECK(class_of(MPI_Register_datarep("mine", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL)) == MPI_ERR_UNSUPPORTED_OPERATION);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    at_offsets();
    pointers();
    views();
    shared_pointer();
    atomic_writes();
    split_collectives();
    errors_and_modes();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) OK(MPI_File_delete(data, MPI_INFO_NULL));
    int all;
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d errors on %d ranks\n", all, size);
    return MPI_Finalize();
}
