/* The objects that an episode has made, by class: handles that are right, and those that were once. */
#include <mpi.h>

enum of {
    OF_COMM, OF_GROUP, OF_TYPE, OF_OP, OF_REQUEST, OF_ERRHANDLER, OF_INFO, OF_MESSAGE, OF_FILE, OF_WIN, OF_SESSION,
    CLASSES,
    /* What else a parameter or the elements of a list can be. */
    OF_INT, OF_COUNT, OF_DISPLACEMENT, OF_RANK, OF_STATUS, OF_TEXT, OF_ANY, OF_FILE_NAME, OF_DATAREP, OF_KEYVAL, OF_MEMORY,
    OF_AMODE, OF_WHENCE, OF_ORDER, OF_TYPECLASS, OF_SPLIT_TYPE, OF_COLOR,
    OF_OPERATION, OF_COPY, OF_DELETE, OF_ERROR, OF_QUERY, OF_FREE, OF_CANCEL, OF_NONE
};

/* More objects than an episode has calls. */
enum { LIVE = 128, GONE = 8, TYPES = 192 };

static const int null_handle[CLASSES] = {0x100, 0x108, 0x200, 0x20, 0x180, 0x140, 0x130, 0x128, 0x118, 0x110, 0x120};

struct object {
    int handle;
    /* Of requests: it can be started again; only the program can complete it; something will be written. */
    char persistent, generalized, writes;
};

static struct object live[CLASSES][LIVE];
static int live_count[CLASSES];
static int gone[CLASSES][GONE];
static int gone_count[CLASSES];

/* Which bytes an element touches, seen from its address: from `low` on, up to `high`. */
enum width { UNKNOWN, SMALL, BEYOND };
struct layout {
    int handle;
    enum width width;
    int low, high, extent;
    /* Bytes before `high` that need not be touched. */
    int padding;
};
static struct layout layouts[TYPES];
static int layout_count, predefined_count;

static const MPI_Datatype predefined[] = {MPI_CHAR, MPI_BYTE, MPI_INT, MPI_DOUBLE, MPI_SHORT, MPI_FLOAT, MPI_LONG_LONG,
    MPI_UNSIGNED, MPI_DOUBLE_INT, MPI_2INT, MPI_SHORT_INT, MPI_C_BOOL, MPI_C_DOUBLE_COMPLEX, MPI_LONG_DOUBLE, MPI_PACKED,
    MPI_AINT, MPI_COUNT, MPI_WCHAR, MPI_UINT64_T, MPI_LONG_DOUBLE_INT};

static void remember_gone(enum of class, int handle) {
    gone[class][gone_count[class]++ % GONE] = handle;
}

static const struct layout *layout_of(int handle) {
    for (int i = 0; i < layout_count; i++) {
        if (layouts[i].handle == handle) return &layouts[i];
    }
    return 0;
}

/*
 * What a datatype touches, as the library says. Those that reach far but stay inside the memory are of no use here: what is
 * written through them would be right and yet lie outside of what is watched.
 */
static int measure(int handle) {
    MPI_Datatype type = (MPI_Datatype)(intptr_t)handle;
    MPI_Count size, lb, extent, low, true_extent;
    if (layout_count == TYPES || MPI_Type_size_c(type, &size) || MPI_Type_get_extent_c(type, &lb, &extent) ||
        MPI_Type_get_true_extent_c(type, &low, &true_extent))
        return 0;
    const MPI_Count high = low + true_extent, far = (MPI_Count)1 << 31;
    struct layout *it = &layouts[layout_count];
    *it = (struct layout){handle, SMALL, (int)low, (int)high, (int)extent, 0};
    if (size == 0)
        it->low = it->high = it->extent = 0;
    else if (high > far || low < -far)
        it->width = BEYOND;
    else if (low < -256 || high > 256 || extent < -128 || extent > 128)
        return 0;
    layout_count++;
    return 1;
}

static void forget_layout(int handle) {
    for (int i = predefined_count; i < layout_count; i++) {
        if (layouts[i].handle == handle) layouts[i] = layouts[--layout_count];
    }
}

static void begin_types(void) {
    for (unsigned i = 0; i < sizeof predefined / sizeof *predefined; i++) measure((int)(intptr_t)predefined[i]);
    /* Of pairs of a number and an index, what fills the last one up belongs to the buffer, too. */
    for (int i = 0; i < layout_count; i++) {
        layouts[i].padding = layouts[i].extent - layouts[i].high;
        layouts[i].high = layouts[i].extent;
    }
    predefined_count = layout_count;
}

static struct object *find_live(enum of class, int handle) {
    for (int i = 0; i < live_count[class]; i++) {
        if (live[class][i].handle == handle) return &live[class][i];
    }
    return 0;
}

static void forget(enum of class, int handle) {
    struct object *it = find_live(class, handle);
    if (it == 0) return;
    *it = live[class][--live_count[class]];
    if (class == OF_TYPE) forget_layout(handle);
    remember_gone(class, handle);
}

/* The right way to be rid of one; true if it is gone. */
static int release(enum of class, int handle) {
    void *it = (void *)(intptr_t)handle;
    switch (class) {
        case OF_COMM: return MPI_Comm_free((MPI_Comm *)&it) == 0;
        case OF_GROUP: return MPI_Group_free((MPI_Group *)&it) == 0;
        case OF_TYPE: return MPI_Type_free((MPI_Datatype *)&it) == 0;
        case OF_OP: return MPI_Op_free((MPI_Op *)&it) == 0;
        case OF_ERRHANDLER: return MPI_Errhandler_free((MPI_Errhandler *)&it) == 0;
        case OF_INFO: return MPI_Info_free((MPI_Info *)&it) == 0;
        case OF_FILE: {
            /* Ranks that left the episode earlier close it while others still use it: an error to both, and the file is closed. */
            int amode;
            return MPI_File_close((MPI_File *)&it) == 0 || MPI_File_get_amode((MPI_File)(intptr_t)handle, &amode) != 0;
        }
        default: return 1;
    }
}

/* Those that MPI_Type_create_f90_real and its like find are not the program's to free, so none is kept. */
static int is_given(int handle) {
    int a, b, c, combiner = MPI_COMBINER_NAMED;
    MPI_Type_get_envelope((MPI_Datatype)(intptr_t)handle, &a, &b, &c, &combiner);
    return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

static struct object *add_live(enum of class, int handle) {
    if (handle >= 0 && handle < 0x1000) return 0;
    /* The library has ended one of which we thought that it was still there, and has given its number away again. */
    if (find_live(class, handle)) forget(class, handle);
    if (class == OF_TYPE && is_given(handle)) return 0;
    if (live_count[class] == LIVE || (class == OF_TYPE && !measure(handle))) {
        if (class != OF_REQUEST && class != OF_MESSAGE) release(class, handle);
        return 0;
    }
    struct object *it = &live[class][live_count[class]++];
    *it = (struct object){handle, 0, 0, 0};
    return it;
}
