// Calls kernels on a file that is mapped where its addresses hold: call_kernels FILE, on standard input lines of a
// kernel's number and eight arguments. KERNELS are their names, PLACE is the address.

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void Kernel(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
extern Kernel KERNELS;

int main(int count, char** arguments) {
    Kernel* const kernels[] = {KERNELS};
    const int file = count == 2 ? open(arguments[1], O_RDWR) : -1;
    const off_t size = lseek(file, 0, SEEK_END);
    void* const place = mmap((void*)PLACE, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    if (place == MAP_FAILED) return perror("mmap"), 1;
    for (uint64_t number, a[8]; scanf("%" SCNu64, &number) == 1;) {
        for (int i = 0; i < 8; ++i)
            if (scanf("%" SCNu64, a + i) != 1) return 1;
        kernels[number](a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    }
    return munmap(place, size);
}
