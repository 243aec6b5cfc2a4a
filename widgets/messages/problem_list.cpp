#include "widgets/messages/problem_list.h"

#include "widgets/common/glyphs.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QVBoxLayout>

namespace orrery::ui {
namespace {

class SeverityMark : public QWidget {
public:
    SeverityMark(Severity severity, QWidget* parent) : QWidget(parent), severity_(severity) { setFixedSize(16, 18); }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        paintSeverity(painter, severity_, QRectF(1, 2, 14, 14));
    }

private:
    Severity severity_;
};

}  // namespace

ProblemList::ProblemList(QWidget* parent) : QWidget(parent), column_(new QVBoxLayout(this)) {
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(6);
}

void ProblemList::setDiagnostics(const Diagnostics& diagnostics) {
    if (diagnostics == shown_) return;
    shown_ = diagnostics;
    while (QLayoutItem* item = column_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (const Diagnostic& problem : shown_) {
        auto* row = new QWidget(this);
        auto* line = new QHBoxLayout(row);
        line->setContentsMargins(0, 0, 0, 0);
        line->setSpacing(6);
        line->addWidget(new SeverityMark(problem.severity, row), 0, Qt::AlignTop);
        auto* words = new QVBoxLayout;
        words->setSpacing(0);
        auto* message = new Label(windowText(problem.message), FontRole::Body, Tone::Normal, row);
        message->setWordWrap(true);
        words->addWidget(message);
        const std::string& more = problem.hint.empty() ? problem.expected : problem.hint;
        if (!more.empty()) {
            auto* hint = new Label(windowText(more), FontRole::Small, Tone::Muted, row);
            hint->setWordWrap(true);
            words->addWidget(hint);
        }
        line->addLayout(words, 1);
        row->setToolTip(windowText(toText(problem)));
        column_->addWidget(row);
    }
}

}  // namespace orrery::ui
