/* Launches a kernel that breaks the device's context after some time, and does not wait for it.
 * 0, or what kept it from being launched. */
#ifndef CUZK_TESTS_DEVICE_TRAP_H
#define CUZK_TESTS_DEVICE_TRAP_H

#ifdef __cplusplus
extern "C" {
#endif

enum { TEST_TRAP_INSTRUCTION, TEST_TRAP_ADDRESS, TEST_TRAPS };
int test_trap(int device, int kind, unsigned long long nanoseconds);

#ifdef __cplusplus
}
#endif
#endif
