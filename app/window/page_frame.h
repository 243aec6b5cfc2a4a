#pragma once

// A page behind its tab. A page that needs more room than the window has scrolls; the window does not grow with it, nor
// with pages that are not in front.

#include <QScrollArea>

#include <functional>

namespace orrery::app {

class Page;

class PageFrame : public QScrollArea {
public:
    using Make = std::function<Page*(QWidget* parent)>;
    /// The page is made inside: one that moved here would have all its style worked out twice.
    PageFrame(const Make& make, QWidget* parent);
    Page* page() const { return page_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();

    Page* page_;
};

}  // namespace orrery::app
