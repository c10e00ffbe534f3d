/* Removed and deprecated functions, in terms of those that took their place. */
#include <mpi.h>

#include "banyan.h"

BANYAN_DEFINE(int, MPI_Address, (const void *location, MPI_Aint *address)) {
    return PMPI_Get_address(location, address);
}
BANYAN_DEFINE(int, MPI_Type_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype)) {
    return PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
BANYAN_DEFINE(int, MPI_Type_hindexed, (int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)) {
    return PMPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}
BANYAN_DEFINE(int, MPI_Type_struct, (int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype)) {
    return PMPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}
BANYAN_DEFINE(int, MPI_Type_extent, (MPI_Datatype datatype, MPI_Aint *extent)) {
    MPI_Aint lb;
    return PMPI_Type_get_extent(datatype, &lb, extent);
}
BANYAN_DEFINE(int, MPI_Type_lb, (MPI_Datatype datatype, MPI_Aint *displacement)) {
    MPI_Aint extent;
    return PMPI_Type_get_extent(datatype, displacement, &extent);
}
BANYAN_DEFINE(int, MPI_Type_ub, (MPI_Datatype datatype, MPI_Aint *displacement)) {
    MPI_Aint lb = 0, extent = 0;
    int code = PMPI_Type_get_extent(datatype, &lb, &extent);
    *displacement = lb + extent;
    return code;
}
BANYAN_DEFINE(int, MPI_Errhandler_create, (MPI_Handler_function *handler_fn, MPI_Errhandler *errhandler)) {
    return PMPI_Comm_create_errhandler(handler_fn, errhandler);
}
BANYAN_DEFINE(int, MPI_Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler)) {
    return PMPI_Comm_set_errhandler(comm, errhandler);
}
BANYAN_DEFINE(int, MPI_Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler)) {
    return PMPI_Comm_get_errhandler(comm, errhandler);
}

BANYAN_DEFINE(int, MPI_Keyval_create, (MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
    void *extra_state)) {
    return PMPI_Comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}
BANYAN_DEFINE(int, MPI_Keyval_free, (int *keyval)) {
    return PMPI_Comm_free_keyval(keyval);
}
BANYAN_DEFINE(int, MPI_Attr_put, (MPI_Comm comm, int keyval, void *attribute_val)) {
    return PMPI_Comm_set_attr(comm, keyval, attribute_val);
}
BANYAN_DEFINE(int, MPI_Attr_get, (MPI_Comm comm, int keyval, void *attribute_val, int *flag)) {
    return PMPI_Comm_get_attr(comm, keyval, attribute_val, flag);
}
BANYAN_DEFINE(int, MPI_Attr_delete, (MPI_Comm comm, int keyval)) {
    return PMPI_Comm_delete_attr(comm, keyval);
}
BANYAN_DEFINE(int, MPI_Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)) {
    return PMPI_Get_elements_c(status, datatype, count);
}
BANYAN_DEFINE(int, MPI_Status_set_elements_x, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count)) {
    return PMPI_Status_set_elements_c(status, datatype, count);
}
BANYAN_DEFINE(int, MPI_Type_size_x, (MPI_Datatype datatype, MPI_Count *size)) {
    return PMPI_Type_size_c(datatype, size);
}
BANYAN_DEFINE(int, MPI_Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)) {
    return PMPI_Type_get_extent_c(datatype, lb, extent);
}
BANYAN_DEFINE(int, MPI_Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)) {
    return PMPI_Type_get_true_extent_c(datatype, true_lb, true_extent);
}
