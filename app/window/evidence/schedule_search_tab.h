#pragma once

// A search over the schedules of a product on a drawn device, watched while it runs: which guide finds the best how
// soon, what was tried, and one of the schedules as loops.

#include "hardware/views/device_ref.h"
#include "methods/schedule/schedule_search.h"

#include <QWidget>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class CellsTable;
class Label;
class LinePlot;
class NestCode;
class NestPicture;
class Veil;
}  // namespace orrery::ui

namespace orrery::app {

class Background;

class ScheduleSearchTab : public QWidget {
    Q_OBJECT
public:
    /// `drawn`: the design of the current scenario; null where there is none.
    explicit ScheduleSearchTab(std::function<HardwarePtr()> drawn, QWidget* parent = nullptr);
    ~ScheduleSearchTab() override;
    bool isWorking() const;
    /// One per guide of the question that stands; the one under way as far as it is known.
    const std::vector<ScheduleSearch>& searches() const { return searches_; }
    /// By the ending: the trials of all guides (csv), the loops that are shown as a picture (svg, pdf, png) or as
    /// numbers (nest.csv). What went wrong, as for what answers an earlier question; empty if nothing.
    QString exportTo(const QString& file) const;

protected:
    void showEvent(QShowEvent* event) override;
    void enterEvent(QEnterEvent* event) override;

private:
    struct Question {
        QString device, workload;
        HardwarePtr drawn;  ///< where `device` is empty: the design that is drawn
        bool operator==(const Question& other) const;
    };
    /// Written by the searching thread, read by the window while it runs.
    struct Live {
        std::mutex guard;
        std::shared_ptr<SchedulePrices> prices;
        ScheduleSearch search;
        bool fresh = false;
    };
    QWidget* buildForm();
    Question question() const;  ///< of the form
    bool isOld() const { return !searches_.empty() && !(asked_ == question()); }
    void showOld();
    void start();
    void takeLive();
    void put(ScheduleSearch search);
    void showCurves();
    void showTrials();
    void showTrial(int row);
    void showState();
    void say(const QString& text, bool bad = false);

    std::function<HardwarePtr()> drawn_;
    QComboBox *device_, *guide_;
    QLineEdit* workload_;
    QSpinBox *trials_, *seed_;
    QPushButton *start_, *export_;
    ui::Label* state_;
    ui::LinePlot* plot_;
    ui::CellsTable* list_;
    ui::NestCode* code_;
    ui::NestPicture* picture_;
    ui::Veil* veil_;
    Question asked_;  ///< what `searches_` are of
    std::shared_ptr<SchedulePrices> prices_;
    std::vector<ScheduleSearch> searches_;
    std::vector<SchedulePoint> listed_;
    std::shared_ptr<Live> live_;
    Background* work_;
};

}  // namespace orrery::app
