# Compiler settings that every target of ours shares, and the helpers the folders use.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

add_library(cuzk_flags INTERFACE)
target_compile_definitions(cuzk_flags INTERFACE _GNU_SOURCE CUZK_VERSION="${PROJECT_VERSION}")
target_compile_options(cuzk_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic
  -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -fno-strict-aliasing>)
if(CUZK_WERROR)
  target_compile_options(cuzk_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
if(CUZK_SANITIZE)
  target_compile_options(cuzk_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-fsanitize=${CUZK_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer>)
  target_link_options(cuzk_flags INTERFACE -fsanitize=${CUZK_SANITIZE})
  target_compile_definitions(cuzk_flags INTERFACE CUZK_SANITIZED)
endif()

# cuzk_object_library(NAME source…): one folder of the engine.
function(cuzk_object_library name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC cuzk_flags Threads::Threads)
endfunction()
