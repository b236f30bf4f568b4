# Compiler settings that every target of ours shares, and the helpers the folders use.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

add_library(cuzk_flags INTERFACE)
target_compile_definitions(cuzk_flags INTERFACE _GNU_SOURCE CUZK_VERSION="${PROJECT_VERSION}")
target_compile_options(cuzk_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic
  -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-overlength-strings -fno-strict-aliasing>)
# Our assembly writes 8+%[b] for the word behind a memory operand: GNU as takes it in all forms of the
# operand, clang's own assembler does not.
target_compile_options(cuzk_flags INTERFACE $<$<COMPILE_LANG_AND_ID:C,Clang>:-fno-integrated-as>)
if(CUZK_WERROR)
  target_compile_options(cuzk_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
if(CUZK_SANITIZE)
  target_compile_options(cuzk_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=${CUZK_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer>)
  target_link_options(cuzk_flags INTERFACE -fsanitize=${CUZK_SANITIZE})
  target_compile_definitions(cuzk_flags INTERFACE CUZK_SANITIZED)
endif()
if(CUZK_FUZZ) # the fuzzer steers by the coverage of our code, not of its target alone
  target_compile_options(cuzk_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link>)
endif()

# cuzk_object_library(NAME source…): one folder of the engine.
function(cuzk_object_library name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC cuzk_flags Threads::Threads)
endfunction()

# cuzk_isa_sources(TARGET source…): compiles each source once for each instruction-set path; see
# src/field/isa.h. The path's copy is a one-line file that sets the path and includes the source.
set(CUZK_ISA_PATHS "")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  list(APPEND CUZK_ISA_PATHS x86_64_adx)
  target_compile_definitions(cuzk_flags INTERFACE CUZK_ISA_HAVE_X86_64_ADX)
endif()
function(cuzk_isa_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  foreach(path ${CUZK_ISA_PATHS})
    string(TOUPPER ${path} macro)
    foreach(source ${ARGN})
      set(original ${CMAKE_CURRENT_SOURCE_DIR}/${source})
      string(REPLACE ".c" ".${path}.c" copy ${source})
      set(copy ${CMAKE_CURRENT_BINARY_DIR}/${copy})
      file(CONFIGURE OUTPUT ${copy} CONTENT "#define CUZK_ISA_${macro}\n#include \"${original}\"\n")
      target_sources(${target} PRIVATE ${copy})
      set_source_files_properties(${copy} PROPERTIES COMPILE_OPTIONS "-mbmi2;-madx")
    endforeach()
  endforeach()
endfunction()
