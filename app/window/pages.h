#pragma once

#include "app/window/page.h"

#include <functional>
#include <vector>

namespace orrery::app {

/// How each page is made, in the order of the tabs.
using PageList = std::vector<std::function<Page*(Studio&, QWidget* parent)>>;

template <class P>
Page* makePage(Studio& studio, QWidget* parent) {
    return new P(studio, parent);
}

PageList builtinPages();

}  // namespace orrery::app
