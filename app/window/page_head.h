#pragma once

// What stands above a page's views: a headline, a line below it, and buttons beside both. Words give way and say the
// rest on hover; no button loses a part of its own.

#include "app/window/form_parts.h"
#include "widgets/common/label.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

namespace orrery::app {

class PageHead : public QWidget {
public:
    /// Parts are named after the page: `compare.headline`, `compare.sub`, `compare.progress`.
    PageHead(const QString& page, QWidget* parent)
        : QWidget(parent), page_(page), above_(new QHBoxLayout), below_(new QHBoxLayout) {
        auto* lines = new QVBoxLayout(this);
        lines->setContentsMargins(0, 0, 0, 0);
        lines->setSpacing(4);
        lines->addLayout(above_);
        lines->addLayout(below_);
        headline_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, this);
        headline_->setObjectName(page + QStringLiteral(".headline"));
        headline_->setElided(true);
        sub_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, this);
        sub_->setObjectName(page + QStringLiteral(".sub"));
        sub_->setElided(true);
        above_->addWidget(headline_, 1);
        below_->addWidget(sub_, 1);
    }
    ui::Label* headline() const { return headline_; }
    ui::Label* sub() const { return sub_; }
    /// Of 1000, beside the lower line; hidden.
    QProgressBar* addProgress(const QString& name, const QString& tip) {
        auto* bar = named(new QProgressBar(this), "", name, tip);
        bar->setObjectName(page_ + QStringLiteral(".progress"));
        bar->setRange(0, 1000);
        bar->setTextVisible(false);
        bar->setFixedWidth(80);
        bar->hide();
        below_->addWidget(bar);
        return bar;
    }
    QPushButton* addAbove(const char* id, const QString& text, const QString& tip) {
        auto* button = named(new QPushButton(text, this), id, text, tip);
        above_->addWidget(button);
        return button;
    }
    QPushButton* addBelow(const char* id, const QString& text, const QString& tip) {
        auto* button = named(new QPushButton(text, this), id, text, tip);
        below_->addWidget(button);
        return button;
    }
    void addBelow(QWidget* widget) { below_->addWidget(widget); }

private:
    QString page_;
    QHBoxLayout *above_, *below_;
    ui::Label *headline_ = nullptr, *sub_ = nullptr;
};

}  // namespace orrery::app
