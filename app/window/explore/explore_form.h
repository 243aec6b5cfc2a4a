#pragma once

// What turns, what is wanted, who asks: the settings of a search as controls.

#include "app/window/explore/explore_question.h"

#include <QScrollArea>

#include <vector>

class QComboBox;
class QGridLayout;
class QSpinBox;
class QVBoxLayout;

namespace orrery::ui {
class Label;
class ValueEdit;
}  // namespace orrery::ui

namespace orrery::app {

class ExploreForm : public QScrollArea {
    Q_OBJECT
public:
    explicit ExploreForm(QWidget* parent = nullptr);
    /// `offers`: knobs that the question has; `figures`: labels of the figures of its newest answer.
    void setQuestion(const ExploreQuestion& question, const std::vector<KnobOffer>& offers, const QStringList& figures);
    /// Points of the whole space; 0: not known.
    void setPoints(std::uint64_t points);

signals:
    void edited(const orrery::SearchSettings& settings, const QString& words);

private:
    void buildWishes(QGridLayout* grid, QWidget* body);
    void showKnobs();
    void showOffers();
    void showWishes();
    void addKnob(int offer);
    void change(const SearchSettings& settings, const QString& words);

    SearchSettings settings_;
    std::vector<KnobOffer> offers_;
    QStringList figures_;
    bool shown_ = false;

    QVBoxLayout* rows_ = nullptr;
    QWidget* rowsBody_ = nullptr;
    QComboBox* add_ = nullptr;
    QComboBox *across_ = nullptr, *up_ = nullptr, *method_ = nullptr, *agent_ = nullptr;
    ui::ValueEdit *constraints_ = nullptr, *price_ = nullptr;
    QSpinBox* most_ = nullptr;
    ui::Label* points_ = nullptr;
};

/// `time` as `Time`, `max Throughput` as `Throughput (large)`.
QString objectiveText(const std::string& objective);

}  // namespace orrery::app
