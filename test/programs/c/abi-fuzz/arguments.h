/* Drawing the arguments of a call: right ones, and for those that shall be bad one of the ways to be wrong. */

static const int64_t bad_ints[] = {-1, -2, -7, 0x7fffffff, 0x7ffffffe, INT32_MIN, 0x40000000, 1 << 20, 12345};
static const int64_t bad_longs[] = {-1, INT64_MIN, INT64_MAX, (int64_t)1 << 31, ((int64_t)1 << 53) + 1, (int64_t)1 << 62,
    ((int64_t)1 << 32) + 3, -((int64_t)1 << 40)};
/* Nothing that fits between a buffer and the end of the memory, however small its elements are. */
static const int64_t bad_counts[] = {-1, -7, INT32_MIN, 0x7fffffff, 0x7ffffffe, 0x40000000, 0x60000001};
/* Lists of this length can be read, and must not be worked at for long. */
static const int64_t long_lists[] = {20000, 1000000};
static const int64_t bad_long_counts[] = {-1, INT64_MIN, INT64_MAX, (int64_t)1 << 31, ((int64_t)1 << 53) + 1,
    ((int64_t)1 << 32) + 1, 0x7fffffff};

static int64_t bad_number(int bytes) {
    return bytes == 8 ? ONE_OF(bad_longs) : ONE_OF(bad_ints);
}

/* An address at which so many bytes cannot be: NULL, across the end of the memory or behind it, or absurd. */
static uint32_t bad_address(uint32_t bytes) {
    const uint32_t end = (uint32_t)memory_end();
    switch (below(8)) {
        case 0: return bytes > 1 ? end - 1 - (uint32_t)below((int)(bytes < EDGE_BYTES ? bytes : EDGE_BYTES) - 1) : end;
        case 1: return bytes > 1 ? end - 1 : end;
        case 2: return end;
        case 3: return end + 4u * (uint32_t)below(1000);
        case 4: return 0x80000000u + (uint32_t)below(64);
        case 5: return 0xffffffffu - (uint32_t)below(64);
        case 6: return 0x7fffffffu - (uint32_t)below(8);
        default: return 0;
    }
}

/*
 * Room for something that is written. A bad address is one where it cannot be; only a buffer may lie at 0, where MPI_BOTTOM
 * is. Words may also lie where words usually do not.
 */
static uint32_t room(uint32_t bytes, int is_bad, int is_written) {
    if (is_bad && !(current->flags & IS_LOCAL) && often(75)) return bad_address(bytes);
    const uint32_t address = place(bytes, is_bad && often(60) ? 1 + (uint32_t)below(3) : 0);
    if (address == 0) return 0x80000000u;
    if (is_written) allow(address, bytes);
    return address;
}

static int pick(enum of class) {
    return live[class][below(live_count[class])].handle;
}

static int bad_handle(enum of class) {
    static const int garbage[] = {0, 1, -1, 0x7fffffff, INT32_MIN, 0xfff, 0x1000, 0x0fffffff};
    switch (below(6)) {
        case 0: return null_handle[class];
        case 1: return gone_count[class] ? gone[class][below(gone_count[class] < GONE ? gone_count[class] : GONE)] : 0;
        case 2: {
            const enum of other = (enum of)below(CLASSES);
            if (other != class && live_count[other]) return pick(other);
            return null_handle[other == class ? (other + 1) % CLASSES : other];
        }
        case 3: return (((int)class + 1) << 24) | (0xfff000 + below(64));
        default: return ONE_OF(garbage);
    }
}

/* Does the function do something to its communicator, or with it? */
static int is_communication(void) {
    return current->flags & (IS_TOGETHER | IS_WAITS | IS_SPEAKS | IS_AGREES | IS_REVOKES | IS_FILE_TOGETHER | IS_WORLDWIDE);
}

static int good_handle(enum of class) {
    static const int ops[] = {0x21, 0x22, 0x23, 0x24, 0x28, 0x29, 0x2a, 0x30, 0x31, 0x32, 0x38, 0x39, 0x3c, 0x3d};
    switch (class) {
        case OF_COMM:
            if (!is_communication() && often(30)) {
                const MPI_Comm others[] = {MPI_COMM_WORLD, MPI_COMM_SELF, control};
                return (int)(intptr_t)ONE_OF(others);
            }
            if (mode == ALONE && live_count[OF_COMM] && often(30)) return pick(OF_COMM);
            return (int)(intptr_t)x;
        case OF_TYPE:
            /* Who sends nothing where another expects something makes it wait. */
            if (matched_type && (mode == TOGETHER || often(90))) return matched_type;
            return layouts[often(60) ? below(predefined_count) : below(layout_count)].handle;
        case OF_OP: return live_count[OF_OP] && often(20) ? pick(OF_OP) : often(60) ? 0x21 : ONE_OF(ops);
        case OF_INFO: return live_count[OF_INFO] && often(40) ? pick(OF_INFO) : often(80) ? 0x130 : 0x131;
        /* Never one that ends the job. */
        case OF_ERRHANDLER: return live_count[OF_ERRHANDLER] && often(50) ? pick(OF_ERRHANDLER) : 0x143;
        case OF_GROUP: return live_count[OF_GROUP] && often(90) ? pick(OF_GROUP) : 0x109;
        case OF_REQUEST: return live_count[OF_REQUEST] && often(90) ? pick(OF_REQUEST) : 0x180;
        case OF_MESSAGE: return live_count[OF_MESSAGE] && often(90) ? pick(OF_MESSAGE) : 0x129;
        default: return live_count[class] ? pick(class) : null_handle[class];
    }
}

static int draw_handle(enum of class, int is_bad) {
    if (!is_bad) return good_handle(class);
    const int handle = bad_handle(class);
    /* The number of a datatype that was freed may be that of one which we do not know (MPI_Type_get_contents gives some). */
    MPI_Count size;
    if (class == OF_TYPE && layout_of(handle) == 0 && MPI_Type_size_c((MPI_Datatype)(intptr_t)handle, &size) == 0) return 0;
    if (class == OF_ERRHANDLER && (handle == 0x141 || handle == 0x142)) return 0;
    /* What is said on a communicator that is not the episode's ends with nothing. */
    int members;
    if (class == OF_COMM && MPI_Comm_size((MPI_Comm)(intptr_t)handle, &members) == 0) return 0;
    return handle;
}

static int64_t draw_choice(enum of what) {
    static const int amodes[] = {MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_MODE_RDONLY, MPI_MODE_WRONLY | MPI_MODE_CREATE,
        MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_APPEND,
        MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_SEQUENTIAL, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR};
    static const int whences[] = {MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END};
    static const int orders[] = {MPI_ORDER_C, MPI_ORDER_FORTRAN};
    static const int classes[] = {MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX};
    static const int splits[] = {MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_UNGUIDED, MPI_UNDEFINED};
    static const int colours[] = {0, 0, 1, MPI_UNDEFINED};
    switch (what) {
        case OF_AMODE: return ONE_OF(amodes);
        case OF_WHENCE: return ONE_OF(whences);
        case OF_ORDER: return ONE_OF(orders);
        case OF_TYPECLASS: return ONE_OF(classes);
        case OF_SPLIT_TYPE: return ONE_OF(splits);
        default: return ONE_OF(colours);
    }
}

static int64_t draw_rank(int is_bad) {
    static const int special[] = {MPI_PROC_NULL, MPI_ANY_SOURCE};
    const int absurd[] = {x_size, -4, -7, 0x7fffffff, INT32_MIN, 1 << 20};
    if (is_bad) return ONE_OF(absurd);
    return often(10) && mode != TOGETHER ? ONE_OF(special) : below(x_size);
}

static int64_t draw_tag(int is_bad) {
    const int absurd[] = {-1, -7, 0x7fffffff, INT32_MIN, 1 << 24};
    if (is_bad) return ONE_OF(absurd);
    return often(15) ? MPI_ANY_TAG : below(3);
}

/* Which buffers a count stands for, and what an element of theirs takes at most; 0: it stands for none that is written. */
static int64_t draw_count(int index, int is_bad) {
    int stands_for_list = 0, stands_for_written = 0, stands_for_read = 0, extent = 1, many = 1;
    for (int i = 0; i < current->parameters; i++) {
        const struct parameter *p = &current->parameter[i];
        if (p->length != index) continue;
        if (p->kind == P_ARRAY) stands_for_list |= p->out ? 3 : 1;
        if (p->kind == P_PACKED) stands_for_list = 3;
        if (p->kind != P_BUFFER) continue;
        if (p->many) many = MEMBERS;
        if (p->out) stands_for_written = 1;
        else stands_for_read = 1;
        const struct layout *type = p->type >= 0 && current->parameter[p->type].kind == P_HANDLE ? layout_of((int)v[p->type]) : 0;
        if (type == 0 || type->width != SMALL) extent = 1 << 20;
        else if (type->extent > extent) extent = type->extent;
        if (type && type->low < 0) extent = 1 << 20;
    }
    const int bytes = current->parameter[index].bytes;
    if (is_bad) {
        if (stands_for_list == 1 && !stands_for_written && often(10)) return ONE_OF(long_lists);
        return bytes == 8 ? ONE_OF(bad_long_counts) : ONE_OF(bad_counts);
    }
    if (matched_count >= 0 && (stands_for_written || stands_for_read)) return matched_count;
    /* Now and then more than fits into a message that travels at once. */
    if (!stands_for_list && (stands_for_written || stands_for_read) && often(8) && extent < 1 << 20)
        return below((stands_for_written ? 60000 : 200000) / (extent * many) + 1);
    return below(stands_for_list ? 5 : 7);
}

static int64_t draw_size(int is_bad) {
    if (is_bad) return ONE_OF(bad_counts);
    return often(80) ? 4096 : below(4097);
}

static int64_t draw_offset(int is_bad) {
    static const int64_t absurd[] = {-1, INT64_MIN, INT64_MAX, ((int64_t)1 << 53) + 1, (int64_t)1 << 62};
    return is_bad ? ONE_OF(absurd) : below(300);
}

static int64_t draw_function(enum of what, int is_large, int is_bad) {
    switch (what) {
        case OF_OPERATION: return is_large ? (intptr_t)operation_c : (intptr_t)operation;
        case OF_COPY: return is_bad ? 0 : often(20) ? 1 : (intptr_t)copy_attribute;
        case OF_DELETE: return is_bad ? 0 : (intptr_t)delete_attribute;
        case OF_ERROR: return (intptr_t)on_error;
        case OF_QUERY: return (intptr_t)query;
        case OF_FREE: return (intptr_t)free_extra;
        case OF_CANCEL: return (intptr_t)cancel;
        default: return 0;
    }
}

static int64_t draw_text(enum of what, int is_bad) {
    static const char *const any[] = {"one", "two", "a key", "", "a value that is a little longer", "mpi_hw_resource_type"};
    static const char *const reps[] = {"native", "external32", "internal", "native"};
    char text[300];
    if (is_bad && !(current->flags & IS_LOCAL) && often(60)) return (int32_t)bad_address(1 + (uint32_t)below(64));
    if (is_bad && often(50)) {
        /* Longer than anything that MPI takes. */
        memset(text, 'x', sizeof text - 1);
        text[sizeof text - 1] = 0;
    } else if (what == OF_FILE_NAME) {
        if (mode == TOGETHER) snprintf(text, sizeof text, "abi-fuzz-all-%d.dat", below(2));
        else snprintf(text, sizeof text, is_bad ? "no-such-folder-%d/%d.dat" : "abi-fuzz-%d-%d.dat", rank, below(3));
    } else {
        snprintf(text, sizeof text, "%s", what == OF_DATAREP ? (is_bad ? "nonsense" : ONE_OF(reps)) : ONE_OF(any));
    }
    const uint32_t length = (uint32_t)strlen(text) + 1, address = place(length, 0);
    if (address) put(address, text, length);
    return (int32_t)address;
}

static int64_t draw_element(const struct parameter *p, int is_bad) {
    switch (p->of) {
        case OF_INT: return is_bad ? bad_number(p->bytes) : below(6) - (often(10) ? 2 : 0);
        case OF_COUNT:
            if (is_bad) return p->bytes == 8 ? ONE_OF(bad_long_counts) : ONE_OF(bad_counts);
            return matched_count >= 0 ? matched_count : below(4);
        case OF_DISPLACEMENT: return is_bad ? (often(50) ? 0x7fffffff : INT32_MIN + below(9)) : below(9);
        case OF_RANK: return draw_rank(is_bad);
        case OF_TEXT: return draw_text(OF_ANY, is_bad);
        default: return p->of < CLASSES ? draw_handle((enum of)p->of, is_bad) : 0;
    }
}

static int64_t draw_array(const struct parameter *p, int is_bad) {
    int64_t elements = MEMBERS;
    const int is_counted = p->length >= 0;
    if (is_counted) elements = v[p->length] >= 0 && v[p->length] <= 16 ? v[p->length] : 64;
    const uint32_t bytes = (uint32_t)elements * p->bytes;
    if (is_bad && often(50)) {
        static const unsigned char zeros[MEMBERS * 8];
        const uint32_t place = room(bytes, 1, p->out != 0), offset = place - (uint32_t)(uintptr_t)arena;
        /* What was there before would be displacements, and some of them right. */
        if (p->of == OF_DISPLACEMENT && bytes <= sizeof zeros && offset < ARENA_BYTES - sizeof zeros) put(place, zeros, bytes);
        return (int32_t)place;
    }
    if (p->of == OF_STATUS && often(20)) return 0;
    const uint32_t address = room(bytes, 0, p->out != 0);
    if (address == 0x80000000u || p->out == 1) return (int32_t)address;
    const int bad_one = is_bad && elements > 0 ? below((int)elements) : -1;
    const uint32_t step = p->bytes == 8 ? 8 : 4;
    for (uint32_t i = 0; i * step < bytes; i++) {
        const int64_t element = draw_element(p, (int)(i * step / p->bytes) == bad_one);
        put(address + i * step, &element, step);
    }
    return (int32_t)address;
}

/*
 * The bytes that a buffer's elements touch at most, seen from its address; false: it is not known, because something is
 * wrong. `touched`: from the first to the last byte that certainly is one of an element; 0: it is not known.
 */
static int extent_of_buffer(const struct parameter *p, int64_t *low, int64_t *high, int64_t *touched) {
    *low = 0;
    *high = 64;
    *touched = 0;
    if (p->length < 0 || p->type < 0) return 1;
    const struct parameter *count_parameter = &current->parameter[p->length];
    if (current->parameter[p->type].kind == P_ARRAY) {
        /* Each has its own: up to 3 elements of at most 128 bytes, displaced by less than 16. */
        *low = -1024;
        *high = 1024;
        return 1;
    }
    const struct layout *type = layout_of((int)v[p->type]);
    if (type == 0 || type->width == BEYOND) return 0;
    int64_t elements;
    if (count_parameter->kind == P_ARRAY) {
        elements = 4 + 9 + (p->many ? MEMBERS * 4 : 0);
    } else {
        elements = v[p->length];
        if (elements < 0 || elements > 200000) return 0;
        if (p->many) elements *= MEMBERS;
    }
    if (elements == 0) {
        *high = 0;
        return 1;
    }
    const int64_t last = (elements - 1) * type->extent;
    *low = type->low + (last < 0 ? last : 0);
    *high = type->high + (last > 0 ? last : 0);
    if (count_parameter->kind != P_ARRAY && !p->many) *touched = *high - *low - type->padding;
    return 1;
}

static int64_t draw_buffer(const struct parameter *p, int is_bad) {
    int64_t low, high, touched;
    const int is_known = extent_of_buffer(p, &low, &high, &touched);
    const int64_t bytes = high - low;
    if (!p->out && bytes > 65536) return (int32_t)(uintptr_t)arena;
    const uint32_t end = (uint32_t)memory_end();
    /* Of something that cannot be there, nothing may be written anywhere. */
    if (!is_known && often(50)) return (int32_t)(place(64, 0) + 0u);
    if (is_bad || !is_known) {
        static const int special[] = {0, 1, 2};
        if (often(40) && (!p->out || (low >= 0 && high < LOW_BYTES - 2))) {
            const int address = ONE_OF(special);
            if (p->out && is_known) allow((uint32_t)(address + low), (uint32_t)bytes);
            return address;
        }
        /* Across the end. */
        if (touched > 1 && often(50))
            return (int32_t)(end - (uint32_t)low - 1 - (uint32_t)below((int)(touched < 2048 ? touched : 2048) - 1));
        /* Elsewhere the first byte may be one of the memory, if it is not the one at the address. */
        if (bytes > 1 || !is_known) return (int32_t)(touched > 0 ? bad_address(1) : end - (uint32_t)low + (uint32_t)below(1000));
    }
    /* In place where it makes sense: it is 1, which is an address like others elsewhere. */
    if (current->flags & IS_TOGETHER && often(8) && (!p->out || high < LOW_BYTES - 2)) {
        if (p->out && low >= 0) allow((uint32_t)(1 + low), (uint32_t)bytes);
        if (!p->out || low >= 0) return 1;
    }
    uint32_t address;
    if (bytes <= EDGE_BYTES && often(10)) {
        address = end - (uint32_t)bytes;
    } else {
        address = place((uint32_t)bytes, (uint32_t)below(often(20) ? 8 : 1));
        if (address == 0) return (int32_t)0x80000000u;
    }
    if (p->out) allow(address, (uint32_t)bytes);
    return (int32_t)(address - (uint32_t)low);
}

static int64_t draw_handle_at(const struct parameter *p, int is_bad) {
    const uint32_t address = room(4, is_bad && often(60), 1);
    if (address - (uint32_t)(uintptr_t)arena >= ARENA_BYTES) return (int32_t)address;
    int value = 0;
    if (p->out == 2) {
        value = draw_handle((enum of)p->of, is_bad && often(70));
        /* Freeing what cannot be freed must be refused; what the fuzzer itself needs is not offered. */
        if (p->of == OF_COMM && (is_breaker || mode == ALONE)) value = often(50) ? 0x101 : 0x102;
        if (p->of == OF_TYPE && is_bad && often(30)) value = 0x209;
        /* A message that another rank is sending comes in its own time: whoever frees the receive does not know when. */
        struct object *request = p->of == OF_REQUEST ? find_live(OF_REQUEST, value) : 0;
        if (request && request->writes && mode == ABSURD && strcmp(current->name, "MPI_Request_free") == 0) value = 0x180;
    }
    put(address, &value, 4);
    return (int32_t)address;
}

/* How many bytes the program says are there. */
static uint32_t size_behind(int index) {
    while (++index < current->parameters) {
        if (current->parameter[index].kind == P_SIZE) return v[index] > 0 && v[index] <= 4096 ? (uint32_t)v[index] : 1;
    }
    return 1;
}

static int64_t draw_argument(int index, int is_bad) {
    const struct parameter *p = &current->parameter[index];
    switch (p->kind) {
        case P_COUNT: return draw_count(index, is_bad);
        case P_RANK: return draw_rank(is_bad);
        case P_TAG: return draw_tag(is_bad);
        case P_SIZE: return draw_size(is_bad);
        case P_OFFSET: return draw_offset(is_bad);
        case P_KEYVAL:
            if (is_bad) return bad_number(4);
            return keyval_count && often(80) ? keyvals[below(keyval_count)] : 501 + below(7);
        case P_CODE: return is_bad ? bad_number(4) : below(70);
        case P_CHOICE: return is_bad ? bad_number(p->bytes) : draw_choice((enum of)p->of);
        case P_HANDLE: return draw_handle((enum of)p->of, is_bad);
        case P_FUNCTION: return draw_function((enum of)p->of, strstr(current->name, "_create_c") != 0, is_bad);
        case P_POINTER: return is_bad ? (int32_t)bad_address(4) : below(1000);
        case P_MEMORY:
            if (is_bad || !block_count) return often(50) ? (int32_t)(uintptr_t)(arena + below(5000)) : (int32_t)bad_address(4);
            return blocks[below(block_count)];
        case P_ATTACHED: return is_bad ? (int32_t)bad_address(size_behind(index)) : (int32_t)(uintptr_t)attached;
        case P_WORD: {
            const uint32_t address = room(p->bytes, is_bad && often(70), 1);
            if (p->out == 2 && address - (uint32_t)(uintptr_t)arena < ARENA_BYTES) {
                const int64_t value = is_bad ? bad_number(p->bytes)
                    : p->of == OF_KEYVAL && keyval_count ? keyvals[below(keyval_count)] : below(17);
                put(address, &value, p->bytes);
            }
            return (int32_t)address;
        }
        case P_HANDLE_AT: return draw_handle_at(p, is_bad);
        case P_STATUS: {
            if (p->out && !(current->flags & IS_LOCAL) && often(20)) return 0;
            const uint32_t address = room(32, is_bad, p->out != 0);
            if (!p->out && address - (uint32_t)(uintptr_t)arena < ARENA_BYTES) {
                int words[8];
                for (int i = 0; i < 8; i++) words[i] = is_bad ? (int)bad_number(4) : below(9);
                put(address, words, 32);
            }
            return (int32_t)address;
        }
        case P_TEXT: return draw_text((enum of)p->of, is_bad);
        case P_TEXT_OUT: return (int32_t)room(p->bytes, is_bad, 1);
        case P_ARRAY: return draw_array(p, is_bad);
        case P_BUFFER: return draw_buffer(p, is_bad);
        case P_PACKED: return is_bad ? (int32_t)bad_address(size_behind(index)) : (int32_t)room(4096 + 64, 0, p->out);
        default: return is_bad ? bad_number(p->bytes) : below(6) - (often(15) ? 3 : 0);
    }
}

/* In the order in which they depend on each other: handles, then numbers, then lists, then buffers. */
static int order_of(const struct parameter *p) {
    switch (p->kind) {
        case P_HANDLE: return 0;
        case P_ARRAY: return 2;
        case P_BUFFER:
        case P_PACKED:
        case P_ATTACHED: return 3;
        default: return 1;
    }
}

static int has_count_list(void) {
    for (int i = 0; i < current->parameters; i++) {
        if (current->parameter[i].kind == P_ARRAY && current->parameter[i].of == OF_COUNT) return 1;
    }
    return 0;
}

/* Of the calls half are right, most others wrong in one place, and some wrong in many. */
static void draw_arguments(int bad_percent) {
    const int is_bad = often(bad_percent);
    const int is_absurd = is_bad && often(25);
    const int bad_one = is_bad && current->parameters ? below(current->parameters) : -1;
    matched_count = mode == TOGETHER || often(60) ? below(4) : -1;
    if (matched_count >= 0 && often(10) && !has_count_list()) matched_count = below(300);
    matched_type = 0;
    if (mode == TOGETHER || often(60)) matched_type = layouts[often(70) ? below(predefined_count) : below(layout_count)].handle;
    if (matched_type && layout_of(matched_type)->extent * matched_count * MEMBERS > 32768) matched_count = 3;
    for (int order = 0; order < 4; order++) {
        for (int i = 0; i < current->parameters; i++) {
            if (order_of(&current->parameter[i]) != order) continue;
            v[i] = draw_argument(i, i == bad_one || (is_absurd && often(40)));
        }
    }
}
